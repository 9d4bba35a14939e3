//! Changes of campaigns, before and after validation.

use crate::base::clock::Millis;
use crate::base::error::UserError;
use crate::domains::ads::campaigns::model::draft::{CapInput, cap, check_keywords, check_time, check_times, end_in_past};
use crate::domains::ads::campaigns::model::{Campaign, Pacing};
use crate::domains::ads::model::{money, name, ok_or_collect, ok_or_collect_all};
use rust_decimal::Decimal;

/// A change of a campaign; `None` for a field that stays. An inner `None` removes an optional field.
#[derive(Clone, Debug, Default)]
pub struct CampaignChange {
    /// Its name.
    pub name: Option<String>,
    /// The total budget.
    pub budget: Option<Decimal>,
    /// The daily budget.
    pub daily: Option<Option<Decimal>>,
    /// The start.
    pub starts: Option<Option<Millis>>,
    /// The end.
    pub ends: Option<Option<Millis>>,
    /// All of its keywords.
    pub keywords: Option<Vec<String>>,
    /// The frequency cap.
    pub cap: Option<Option<CapInput>>,
    /// The pacing of the daily budget.
    pub pacing: Option<Pacing>,
}

impl CampaignChange {
    /// Applies the change. Returns the campaign, and all of its keywords if they change. Fails with every mistake.
    pub(in crate::domains::ads) fn apply(
        &self,
        campaign: &Campaign,
        now: Millis,
    ) -> Result<(Campaign, Option<Vec<String>>), Vec<UserError>> {
        let mut errors = Vec::new();
        let mut new = campaign.clone();
        if let Some(text) = &self.name {
            new.name = ok_or_collect(name(text), &mut errors).unwrap_or_default();
        }
        if let Some(budget) = self.budget {
            new.budget = ok_or_collect(money(budget, "The budget", "budget"), &mut errors).unwrap_or_default();
        }
        if let Some(daily) = self.daily {
            new.daily = daily.and_then(|daily| ok_or_collect(money(daily, "The daily budget", "dailyBudget"), &mut errors));
        }
        new.starts = self.starts.unwrap_or(campaign.starts);
        new.ends = self.ends.unwrap_or(campaign.ends);
        for checked in [check_time(new.starts, "startsAt"), check_times(new.starts, new.ends)] {
            ok_or_collect(checked, &mut errors);
        }
        errors.extend(self.ends.flatten().filter(|ends| *ends <= now).map(|_| end_in_past()));
        let keywords = self.keywords.as_ref().and_then(|texts| ok_or_collect(check_keywords(texts), &mut errors));
        if let Some(input) = self.cap {
            new.cap = input.and_then(|input| ok_or_collect_all(cap(input), &mut errors));
        }
        new.pacing = self.pacing.unwrap_or(campaign.pacing);
        if errors.is_empty() { Ok((new, keywords)) } else { Err(errors) }
    }
}
