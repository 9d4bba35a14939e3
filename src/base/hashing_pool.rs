//! A thread pool for CPU-bound work (password hashes): a few threads of low priority with a bounded queue. The bound refuses excess log-ins
//! at once; the low priority leaves the cores to other requests.

use crate::base::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tokio::sync::{Semaphore, oneshot};

type Job = Box<dyn FnOnce() + Send>;

/// A thread pool with a bounded queue. The threads start with the first job and end with the pool.
pub struct HashingPool {
    /// One permit per running or queued job.
    capacity_permits: Arc<Semaphore>,
    /// One permit per thread.
    thread_permits: Arc<Semaphore>,
    threads: usize,
    capacity: usize,
    jobs: OnceLock<Sender<Job>>,
    started: AtomicU64,
}

impl HashingPool {
    /// A pool of `threads` with a queue of `queue` jobs.
    pub fn new(threads: usize, queue: usize) -> Self {
        let capacity = threads + queue;
        let (capacity_permits, thread_permits) = (Arc::new(Semaphore::new(capacity)), Arc::new(Semaphore::new(threads)));
        Self { capacity_permits, thread_permits, threads, capacity, jobs: OnceLock::new(), started: AtomicU64::new(0) }
    }

    /// Runs `work` when a thread is free. Dropping the future removes a queued job; a running job completes and keeps its thread until then.
    ///
    /// # Errors
    /// `OVERLOADED`, at once, if the queue is full; internal if the work panicked.
    pub async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
        let capacity_permit = self.capacity_permits.clone().try_acquire_owned().map_err(|_| Error::Overloaded)?;
        let thread_permit = self.thread_permits.clone().acquire_owned().await.map_err(Error::internal)?;
        self.started.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        let job = move || {
            // A panic concerns only its caller, and the thread continues.
            let done = catch_unwind(AssertUnwindSafe(work));
            drop((capacity_permit, thread_permit));
            if let Ok(done) = done {
                // The caller may have been dropped.
                let _ = sender.send(done);
            }
        };
        self.jobs().send(Box::new(job)).map_err(|_| Error::internal(anyhow::anyhow!("all hashing threads have stopped")))?;
        receiver.await.map_err(Error::internal)
    }

    /// The number of started jobs. For tests.
    pub fn started(&self) -> u64 {
        self.started.load(Ordering::Relaxed)
    }

    /// The number of running jobs. For metrics.
    pub fn working(&self) -> usize {
        self.threads.saturating_sub(self.thread_permits.available_permits())
    }

    /// The number of queued jobs. For metrics.
    pub fn waiting(&self) -> usize {
        self.unfinished().saturating_sub(self.working())
    }

    /// The number of running and queued jobs. For tests.
    pub fn unfinished(&self) -> usize {
        self.capacity.saturating_sub(self.capacity_permits.available_permits())
    }

    fn jobs(&self) -> &Sender<Job> {
        self.jobs.get_or_init(|| {
            let (jobs, receiver) = channel();
            let receiver = Arc::new(Mutex::new(receiver));
            for _ in 0..self.threads {
                let receiver = receiver.clone();
                // If the system has no thread left, the existing ones do the work.
                let started = std::thread::Builder::new().name("hashing".into()).spawn(move || work(&receiver));
                if let Err(error) = started {
                    tracing::error!(%error, "a thread for password hashes could not be started");
                }
            }
            jobs
        })
    }
}

/// The loop of a thread; it ends with the pool.
fn work(jobs: &Mutex<Receiver<Job>>) {
    lower_priority();
    loop {
        let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = next else { return };
        job();
    }
}

/// Lowers the priority of the calling thread. On other systems than Linux this would affect the whole process, so nothing is done there.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{getpriority_process, setpriority_process};
        /// The increase of the nice value: a hashing thread gets a tenth of a core that it shares with a thread of normal priority.
        const NICE_INCREMENT: i32 = 10;
        let lowered = getpriority_process(None).and_then(|now| setpriority_process(None, (now + NICE_INCREMENT).min(19)));
        if let Err(error) = lowered {
            tracing::debug!(%error, "the priority of a thread could not be lowered");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Sender as Starter, sync_channel};
    use tokio::task::JoinHandle;

    /// A job that blocks until it is released.
    fn blocker(pool: &Arc<HashingPool>) -> (JoinHandle<Result<(), Error>>, Starter<()>) {
        let (release, wait) = channel();
        let pool = pool.clone();
        (tokio::spawn(async move { pool.run(move || wait.recv().unwrap_or(())).await }), release)
    }

    /// Yields to other tasks until the condition holds.
    async fn until(condition: impl Fn() -> bool) {
        while !condition() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn the_queue_is_bounded() {
        let pool = Arc::new(HashingPool::new(2, 3));
        let all: Vec<_> = (0..5).map(|_| blocker(&pool)).collect();
        until(|| pool.unfinished() == 5).await;
        assert_eq!(pool.started(), 2, "two jobs run at once");
        assert!(matches!(pool.run(|| ()).await, Err(Error::Overloaded)));
        for (_, release) in &all {
            release.send(()).expect("the job runs or is queued");
        }
        for (work, _) in all {
            work.await.expect("no panic").expect("the job is done");
        }
        until(|| pool.unfinished() == 0).await;
        assert_eq!(pool.run(|| 7).await.expect("the queue has a free slot"), 7);
        assert_eq!(pool.started(), 6);
    }

    #[tokio::test]
    async fn dropping_a_future_removes_a_queued_job_and_lets_a_running_job_finish() {
        let pool = Arc::new(HashingPool::new(1, 1));
        let (working, release) = blocker(&pool);
        until(|| pool.started() == 1).await;
        let (waiting, _never) = blocker(&pool);
        until(|| pool.unfinished() == 2).await;
        waiting.abort();
        until(|| pool.unfinished() == 1).await;
        working.abort();
        assert!(working.await.expect_err("it was aborted").is_cancelled());
        let (next, next_release) = blocker(&pool);
        until(|| pool.unfinished() == 2).await;
        assert_eq!(pool.started(), 1, "the aborted job still occupies the thread");
        release.send(()).expect("the job runs");
        next_release.send(()).expect("the job is queued");
        next.await.expect("no panic").expect("the job is done");
        assert_eq!(pool.started(), 2);
    }

    #[tokio::test]
    async fn a_panic_becomes_an_error_and_keeps_the_thread() {
        let pool = HashingPool::new(1, 0);
        for _ in 0..3 {
            let panicked = pool.run(|| std::panic::resume_unwind(Box::new("x"))).await;
            assert!(matches!(panicked, Err::<(), _>(Error::Internal(_))), "{panicked:?}");
        }
        assert_eq!(pool.run(|| 1).await.expect("the job is done"), 1);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn jobs_have_a_low_priority() {
        use rustix::process::getpriority_process;
        let own_priority = getpriority_process(None).expect("a priority");
        let pool = HashingPool::new(1, 0);
        let priority = pool.run(|| getpriority_process(None)).await.expect("the job is done").expect("a priority");
        assert_eq!(priority, (own_priority + 10).min(19));
        assert_eq!(
            getpriority_process(None).expect("a priority"),
            own_priority,
            "only the thread of the pool has a lower priority"
        );
    }

    #[tokio::test]
    async fn the_threads_end_with_the_pool() {
        let pool = HashingPool::new(1, 0);
        let (held, ended) = sync_channel::<()>(0);
        thread_local!(static HELD: std::cell::RefCell<Option<std::sync::mpsc::SyncSender<()>>> = const { std::cell::RefCell::new(None) });
        pool.run(move || HELD.with(|cell| *cell.borrow_mut() = Some(held))).await.expect("the job is done");
        drop(pool);
        // A thread drops its values when it ends.
        assert!(ended.recv().is_err());
    }
}
