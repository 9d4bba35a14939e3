//! The memory limit of the data.

use std::fs;
use std::path::{Path, PathBuf};

use sysinfo::{MemoryRefreshKind, RefreshKind, System};

/// The limit in bytes: the configured one, or three quarters of the available memory. The rest is for the server, and for the memory of Redis above
/// the limit: buffers, and copied pages during a rewrite. `None` if the available memory is unknown.
pub(super) fn limit(configured: Option<u64>) -> Option<u64> {
    configured.or_else(|| Some(available()? / 4 * 3))
}

/// The memory of the machine or of the container, whichever is less.
fn available() -> Option<u64> {
    let memory = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(memory);
    let container = system.cgroup_limits().map(|limits| limits.total_memory);
    let all = [Some(system.total_memory()), container, cgroup_limit(Path::new("/proc/self/cgroup"), Path::new("/sys/fs/cgroup"))];
    all.into_iter().flatten().filter(|bytes| *bytes > 0).min()
}

/// The lowest limit of the control group of this process, and of its ancestors (version 2), as set by a service manager.
fn cgroup_limit(cgroup_file: &Path, root: &Path) -> Option<u64> {
    let groups = fs::read_to_string(cgroup_file).ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let group = PathBuf::from(path);
    let limit = |group: &Path| fs::read_to_string(root.join(group).join("memory.max")).ok()?.trim().parse().ok();
    group.ancestors().filter_map(limit).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_limit_is_three_quarters_of_the_memory() {
        assert_eq!(limit(Some(5)), Some(5));
        let all = available().expect("the system reports its memory");
        assert_eq!(limit(None), Some(all / 4 * 3));
        assert!(all > 100 << 20, "{all}");
    }

    #[test]
    fn the_lowest_limit_of_all_ancestor_groups_applies() {
        let folder = tempfile::tempdir().expect("a folder");
        let cgroup_file = folder.path().join("cgroup");
        fs::write(&cgroup_file, "4:memory:/other\n0::/a/b\n").expect("writable");
        let inner = folder.path().join("a/b");
        fs::create_dir_all(&inner).expect("writable");
        assert_eq!(cgroup_limit(&cgroup_file, folder.path()), None, "no limit is configured");
        fs::write(inner.join("memory.max"), "max\n").expect("writable");
        assert_eq!(cgroup_limit(&cgroup_file, folder.path()), None, "`max` is no limit");
        fs::write(folder.path().join("a/memory.max"), "4096\n").expect("writable");
        assert_eq!(cgroup_limit(&cgroup_file, folder.path()), Some(4096));
        fs::write(inner.join("memory.max"), "1024\n").expect("writable");
        assert_eq!(cgroup_limit(&cgroup_file, folder.path()), Some(1024));
    }
}
