//! Logins over time: those that an account had before, and the accounts that had a login.

use super::LOGIN_RESERVATION_TTL;
use crate::base::clock::Millis;
use crate::base::ids::UserId;
use std::fmt::Write;

/// Maximum number of changes of the login of an account in [`LOGIN_RESERVATION_TTL`].
pub(in super::super) const MAX_LOGIN_CHANGES: usize = 2;
/// The number of former logins that an account keeps; older ones are released. At most 24 are added in a year.
const MAX_FORMER: usize = 50;
/// The maximum number of stored former logins of an account: more than [`MAX_FORMER`] only until the oldest are released.
const MAX_STORED: usize = 60;

/// A login that an account had before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormerLogin {
    /// The login, in lower case.
    pub login: String,
    /// When the account took it.
    pub since: Millis,
    /// When the account changed it.
    pub until: Millis,
    /// The version of the history with this change.
    pub version: u64,
}

impl FormerLogin {
    /// The time from which other accounts can take the login.
    pub const fn free_from(&self) -> Millis {
        self.until + LOGIN_RESERVATION_TTL
    }
}

/// The logins that an account had before, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoginHistory {
    version: u64,
    former: Vec<FormerLogin>,
    /// The stored text, if it cannot be read.
    unreadable: Option<String>,
}

impl LoginHistory {
    /// The history of an account that has never changed its login.
    pub const NONE: Self = Self { version: 0, former: Vec::new(), unreadable: None };

    /// The history with this stored form. One that cannot be read has no logins, and cannot change.
    pub fn of_text(text: String) -> Self {
        Self::parse(&text).unwrap_or(Self { unreadable: Some(text), ..Self::NONE })
    }

    /// The stored form, if it cannot be read.
    pub fn unreadable(&self) -> Option<&str> {
        self.unreadable.as_deref()
    }

    /// The version, which orders the changes of an account: every change raises it, also a cancelled one.
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// The former logins.
    pub fn former(&self) -> &[FormerLogin] {
        &self.former
    }

    /// When the account took its login `present`, ignoring case.
    pub fn since(&self, present: &str, signed_up: Millis) -> Millis {
        let is_same = |former: &&FormerLogin| former.login.eq_ignore_ascii_case(present);
        match self.former.iter().rev().take_while(is_same).last() {
            Some(first) => first.since,
            None => self.former.last().map_or(signed_up, |last| last.until),
        }
    }

    /// The login that the change with this version has ended, and the one that it began, of an account whose login is `present`. `None` if the change was not
    /// made.
    pub fn change<'a>(&'a self, version: u64, present: &'a str) -> Option<(&'a FormerLogin, &'a str)> {
        let at = self.former.iter().position(|former| former.version == version)?;
        Some((&self.former[at], self.former.get(at + 1).map_or(present, |next| &next.login)))
    }

    /// The number of changes that count towards the limit of changes.
    pub fn recent_changes(&self, now: Millis) -> usize {
        self.former.iter().filter(|former| former.free_from() > now).count()
    }

    /// The history after a change of the login `present`.
    pub fn changed(&self, present: &str, signed_up: Millis, now: Millis) -> Self {
        let mut after = self.cancelled();
        let since = self.since(present, signed_up);
        let former = FormerLogin { login: present.to_ascii_lowercase(), since, until: now.max(since), version: after.version };
        after.former.push(former);
        let forgotten = after.former.len().saturating_sub(MAX_STORED);
        after.former.drain(..forgotten);
        after
    }

    /// The oldest former login and the history without this login, if there are more than an account keeps.
    pub fn without_excess(&self) -> Option<(&FormerLogin, Self)> {
        let (oldest, rest) = self.former.split_first().filter(|_| self.former.len() > MAX_FORMER)?;
        Some((oldest, Self { version: self.version, former: rest.to_vec(), unreadable: None }))
    }

    /// The history after a change that was not made, and can no longer be made.
    pub fn cancelled(&self) -> Self {
        Self { version: self.version + 1, former: self.former.clone(), unreadable: None }
    }

    /// The stored form; empty for [`Self::NONE`].
    pub fn text(&self) -> String {
        if let Some(text) = &self.unreadable {
            return text.clone();
        }
        if *self == Self::NONE {
            return String::new();
        }
        let mut text = self.version.to_string();
        for FormerLogin { login, since, until, version } in &self.former {
            let _ = write!(text, " {login}:{since}:{until}:{version}");
        }
        text
    }

    /// Parses the stored form; `None` for another text.
    pub fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::NONE);
        }
        let mut parts = text.split(' ');
        let version = parts.next()?.parse().ok()?;
        let former = parts.map(|part| {
            let (login, numbers) = part.split_once(':')?;
            let [since, until, version] = numbers_of(numbers)?;
            super::is_login(login).then(|| FormerLogin { login: login.to_owned(), since, until, version })
        });
        Some(Self { version, former: former.collect::<Option<_>>()?, unreadable: None })
    }
}

/// A time in which an account had a login, or had it reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LoginPeriod {
    /// The account; `None` if it was deleted.
    account: Option<UserId>,
    from: Millis,
    /// `None` while the account has it.
    to: Option<Millis>,
    /// The version of the account's change that began or ended it.
    version: u64,
}

/// The account that has a login, and those that had it. Accounts that got it when they signed up, and have never changed it, have no period.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoginHolders {
    claimed_by: Option<UserId>,
    periods: Vec<LoginPeriod>,
}

impl LoginHolders {
    /// The holders of a login that `claimed_by` has, with the stored form of the periods. Periods that cannot be read are left out.
    pub fn new(claimed_by: Option<UserId>, periods: &str) -> Self {
        Self { claimed_by, periods: parse_periods(periods).unwrap_or_default() }
    }

    /// The account that has the login, or for which it is reserved because it had it.
    pub fn current(&self, now: Millis) -> Option<UserId> {
        self.claimed_by.or_else(|| self.periods.last().filter(|last| last.to.is_none_or(|to| to > now))?.account)
    }

    /// The account that a text mentions by this login: the one that had it, or had it reserved, when the text was written. A period that began less than 30
    /// days after the text was written counts too, since the clocks of servers differ. It cannot be a later account's: a login can be claimed only 30 days
    /// after its last account has given it up.
    pub fn at(&self, written_at: Millis) -> Option<UserId> {
        let began = |since: Millis| since < written_at + LOGIN_RESERVATION_TTL;
        let period = self.periods.iter().find(|period| began(period.from) && period.to.is_none_or(|to| written_at < to));
        match period {
            Some(period) => period.account,
            None => self.claimed_by.filter(|account| {
                began(account.time()) && !self.periods.iter().any(|it| it.to.is_none() && it.account == Some(*account))
            }),
        }
    }

    /// All accounts that have or had the login.
    pub fn all(&self) -> impl Iterator<Item = UserId> {
        self.periods.iter().filter_map(|period| period.account).chain(self.claimed_by)
    }

    /// The version and the time of the change by which `account` has claimed the login; `None` if it has had the login since its sign-up, or no longer has
    /// it.
    pub fn claim_of(&self, account: UserId) -> Option<(u64, Millis)> {
        let open = self.periods.last().filter(|last| last.to.is_none() && last.account == Some(account));
        open.map(|open| (open.version, open.from))
    }
}

/// Whether a text is the stored form of periods.
pub(in super::super) fn are_periods(text: &str) -> bool {
    parse_periods(text).is_some()
}

fn parse_periods(text: &str) -> Option<Vec<LoginPeriod>> {
    let period = |part: &str| {
        let [account, from, to, version] = numbers_of(part)?;
        Some(LoginPeriod { account: (account > 0).then_some(UserId(account)), from, to: (to > 0).then_some(to), version })
    };
    text.split(' ').filter(|part| !part.is_empty()).map(period).collect()
}

fn numbers_of<const N: usize>(text: &str) -> Option<[u64; N]> {
    let numbers: Option<Vec<u64>> = text.split(':').map(|number| number.parse().ok()).collect();
    numbers?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::DAY;
    use crate::base::ids::source::compose;

    const NOW: Millis = 1_800_000_000_000;

    fn account(signed_up: Millis) -> UserId {
        UserId(compose(signed_up, 0, 1))
    }

    #[test]
    fn a_history_survives_the_round_trip_and_forgets_the_oldest() {
        assert_eq!(LoginHistory::parse(""), Some(LoginHistory::NONE));
        let mut history = LoginHistory::NONE.cancelled();
        assert_eq!(LoginHistory::parse(&history.text()), Some(history.clone()));
        for number in 0..70 {
            history = history.changed(&format!("Ada_{number}"), NOW - DAY, NOW + number * 15 * DAY);
            assert_eq!(LoginHistory::parse(&history.text()), Some(history.clone()));
        }
        assert_eq!((history.version(), history.former().len(), history.former()[0].login.as_str()), (71, 60, "ada_10"));
        assert!(history.text().len() < 60 * 80);
        while let Some((oldest, rest)) = history.without_excess() {
            assert_eq!((oldest, &rest.former()[0], rest.version()), (&history.former()[0], &history.former()[1], 71));
            history = rest;
        }
        assert_eq!((history.former().len(), history.former()[0].login.as_str()), (50, "ada_20"));
        for text in ["x", "1 ada", "1 ada:1:2", "1 a b:1:2:3", "1 ada:1:2:3:4", "1 a-b:1:2:3", " "] {
            assert_eq!(LoginHistory::parse(text), None, "{text:?}");
            let unreadable = LoginHistory::of_text(text.to_owned());
            assert_eq!((unreadable.text().as_str(), unreadable.unreadable(), unreadable.former()), (text, Some(text), &[][..]));
        }
    }

    #[test]
    fn a_former_login_counts_for_thirty_days() {
        let history = LoginHistory::NONE.changed("Ada", NOW - DAY, NOW);
        assert_eq!((history.since("bea", NOW - DAY), history.former()[0].since), (NOW, NOW - DAY));
        let other_case = LoginHistory::NONE.changed("Ada", NOW - DAY, NOW);
        assert_eq!(other_case.since("ADA", NOW - DAY), NOW - DAY, "a change of case");
        let twice = other_case.changed("ADA", NOW - DAY, NOW + 1);
        assert_eq!((twice.since("bea", NOW - DAY), twice.former()[1].since), (NOW + 1, NOW - DAY));
        assert_eq!(twice.change(1, "bea").map(|(former, now)| (former.until, now)), Some((NOW, "ada")));
        assert_eq!(twice.change(2, "bea").map(|(former, now)| (former.until, now)), Some((NOW + 1, "bea")));
        assert_eq!(twice.change(3, "bea"), None);
        for (now, count) in [(NOW, 1), (NOW + 30 * DAY - 1, 1), (NOW + 30 * DAY, 0)] {
            assert_eq!(history.recent_changes(now), count);
        }
    }

    #[test]
    fn a_mention_is_of_the_account_that_had_the_login_when_it_was_written() {
        let [ada, bea] = [account(NOW - 300 * DAY), account(NOW - 200 * DAY)];
        // Ada had it until NOW; it was reserved for 30 days, and Bea took it 10 days later.
        let periods = format!("{}:{}:{}:1 {}:{}:0:1", ada.0, ada.time(), NOW + 30 * DAY, bea.0, NOW + 40 * DAY);
        let holders = LoginHolders::new(Some(bea), &periods);
        for (written_at, expected) in [
            (NOW - 100 * DAY, Some(ada)),
            (NOW + 30 * DAY - 1, Some(ada)),
            (NOW + 39 * DAY, Some(bea)),
            (NOW + 50 * DAY, Some(bea)),
        ] {
            assert_eq!(holders.at(written_at), expected, "{written_at}");
        }
        assert_eq!((holders.current(NOW), holders.claim_of(bea)), (Some(bea), Some((1, NOW + 40 * DAY))));
        assert_eq!((holders.claim_of(ada), LoginHolders::new(None, &periods).current(NOW)), (None, Some(bea)), "a lost claim");
        // Ada was deleted: nobody is mentioned in her place.
        let holders = LoginHolders::new(Some(bea), &periods.replacen(&ada.0.to_string(), "0", 1));
        assert_eq!((holders.at(NOW), holders.at(NOW + 50 * DAY)), (None, Some(bea)));
        // Nobody took it.
        let holders = LoginHolders::new(None, periods.split(' ').next().expect("the first"));
        assert_eq!((holders.at(NOW), holders.at(NOW + 50 * DAY)), (Some(ada), None));
        assert_eq!((holders.current(NOW + 30 * DAY - 1), holders.current(NOW + 30 * DAY)), (Some(ada), None));
        // A new account took it.
        let cyd = account(NOW + 35 * DAY);
        let holders = LoginHolders::new(Some(cyd), periods.split(' ').next().expect("the first"));
        assert_eq!((holders.at(NOW), holders.at(NOW + 36 * DAY)), (Some(ada), Some(cyd)));
    }

    #[test]
    fn a_later_account_with_the_login_is_not_mentioned() {
        let at = |time| LoginHolders::new(Some(account(time)), "").at(NOW).is_some();
        assert!(at(NOW));
        assert!(at(NOW + DAY), "another server's clock was behind");
        assert!(!at(NOW + 30 * DAY));
    }

    #[test]
    fn periods_have_numbers_only() {
        assert!(are_periods("") && are_periods("1:2:3:4") && are_periods("1:2:0:4 5:6:7:8"));
        assert!(!are_periods("1:2:3") && !are_periods("a:1:2:3") && !are_periods("1:2:3:4 x"));
    }
}
