//! Options of the rate limits, and of the proxies that are trusted with clients' addresses.

use crate::base::config::{AdTraffic, Config};
use crate::base::rate_limits::{Limit, Quota, RateLimits};
use crate::cli::http::OnOff;
use clap::Args;
use ipnet::IpNet;
use std::net::IpAddr;

/// The default limits of valid ad traffic.
const TRAFFIC: AdTraffic = AdTraffic::new();

/// Options of the rate limits.
#[derive(Args, Clone)]
#[command(next_help_heading = "Rate limits (N/TIME: at most N at once, and N in that time on average)")]
pub(super) struct RateOptions {
    /// Enforce the rate limits. `off` for benchmarks and tests.
    #[arg(long, value_name = "on|off", env = "WAXWING_RATE_LIMITS", default_value = "on", hide_possible_values = true)]
    rate_limits: OnOff,
    /// The cost of requests of an account or, without a session, of an address. The cost of a request is the number of fields that its response
    /// may have; the first page of a home timeline (thirty entries) has some 600.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_REQUESTS", default_value_t = Limit::Requests.default_quota())]
    rate_requests: Quota,
    /// Attempts to sign up from an address.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_SIGN_UPS", default_value_t = Limit::SignUps.default_quota())]
    rate_sign_ups: Quota,
    /// Failed log-ins of an account from an address.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_LOG_INS", default_value_t = Limit::LogIns.default_quota())]
    rate_log_ins: Quota,
    /// Failed log-ins from an address, for all accounts together.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_LOG_INS_FROM_ADDRESS", default_value_t = Limit::LogInsFromAddress.default_quota())]
    rate_log_ins_from_address: Quota,
    /// Failed log-ins of an account from all addresses together, except on known devices.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_LOG_INS_OF_ACCOUNT", default_value_t = Limit::LogInsOfAccount.default_quota())]
    rate_log_ins_of_account: Quota,
    /// Failed log-ins on a known device of the account; wrong passwords of a session that deletes its account, or changes its password, login or mail
    /// address.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_LOG_INS_OF_DEVICE", default_value_t = Limit::LogInsOfDevice.default_quota())]
    rate_log_ins_of_device: Quota,
    /// Statuses that an account posts.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_POSTS", default_value_t = Limit::Posts.default_quota())]
    rate_posts: Quota,
    /// Follows and unfollows of an account.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_FOLLOWS", default_value_t = Limit::Follows.default_quota())]
    rate_follows: Quota,
    /// Likes of an account, and likes that it undoes.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_LIKES", default_value_t = Limit::Likes.default_quota())]
    rate_likes: Quota,
    /// Comments of an account, and edits of them.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_COMMENTS", default_value_t = Limit::Comments.default_quota())]
    rate_comments: Quota,
    /// Votes of an account on comments, and votes that it undoes.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_VOTES", default_value_t = Limit::Votes.default_quota())]
    rate_votes: Quota,
    /// Changes of an account's lists: created, renamed, deleted, members added or removed.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_LISTS", default_value_t = Limit::Lists.default_quota())]
    rate_lists: Quota,
    /// Changes of an account's relations to others: mutes, blocks and friends, accepted and rejected follow requests, removals of followers, whether the
    /// reposts of an account are shown, reply policies and audiences of statuses, and whether the account is private.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_RELATIONS", default_value_t = Limit::Relations.default_quota())]
    rate_relations: Quota,
    /// Reposts of an account, and reposts that it undoes.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_REPOSTS", default_value_t = Limit::Reposts.default_quota())]
    rate_reposts: Quota,
    /// Edits of an account's statuses.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_EDITS", default_value_t = Limit::Edits.default_quota())]
    rate_edits: Quota,
    /// Saved items of an account, which are bookmarks, pins and followed tags, and their removals.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_SAVED_ITEMS", default_value_t = Limit::SavedItems.default_quota())]
    rate_saved_items: Quota,
    /// Changes of an account's campaigns, ads and websites.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_CAMPAIGNS", default_value_t = Limit::Campaigns.default_quota())]
    rate_campaigns: Quota,
    /// Messages that an account sends in chats, and edits of them.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_MESSAGES", default_value_t = Limit::Messages.default_quota())]
    rate_messages: Quota,
    /// Chats that an account creates: direct chats and groups.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_CHATS", default_value_t = Limit::Chats.default_quota())]
    rate_chats: Quota,
    /// Accounts that an account adds to groups.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_CHAT_MEMBERS", default_value_t = Limit::ChatMembers.default_quota())]
    rate_chat_members: Quota,
    /// Reactions of an account to messages, and reactions that it removes.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_REACTIONS", default_value_t = Limit::Reactions.default_quota())]
    rate_reactions: Quota,
    /// Typing notifications that an account sends.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_TYPING", default_value_t = Limit::Typing.default_quota())]
    rate_typing: Quota,
    /// Other changes of chats by an account: messages marked as seen, mutes, the archive, settings, accepted and declined requests, names and roles of groups,
    /// members that are removed or leave.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_CHAT_SETTINGS", default_value_t = Limit::ChatSettings.default_quota())]
    rate_chat_settings: Quota,
    /// Emails with a link that are requested for a mail address, and those that an account requests.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_MAILS", default_value_t = Limit::Mails.default_quota())]
    rate_mails: Quota,
    /// Emails with a link that are requested from one client address.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_MAILS_FROM_ADDRESS", default_value_t = Limit::MailsFromAddress.default_quota())]
    rate_mails_from_address: Quota,
    /// The cost of requests with a server key that act for no account. With `waxwing-act-as`, a request is charged to its account.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_KEYS", default_value_t = Limit::Keys.default_quota())]
    rate_keys: Quota,
    /// Ad requests and clicks from an address.
    #[arg(long, value_name = "N/TIME", env = "WAXWING_RATE_ADS", default_value_t = Limit::Ads.default_quota())]
    rate_ads: Quota,
    /// Valid clicks of one address per hour; further ones are invalid and cost nothing.
    #[arg(long, value_name = "N", env = "WAXWING_AD_ADDRESS_CLICKS", default_value_t = TRAFFIC.address_clicks, value_parser = positive())]
    ad_address_clicks: u64,
    /// Valid clicks of one address on ads of one campaign per hour.
    #[arg(long, value_name = "N", env = "WAXWING_AD_CAMPAIGN_CLICKS", default_value_t = TRAFFIC.campaign_clicks, value_parser = positive())]
    ad_campaign_clicks: u64,
    /// Valid impressions at one address per hour; further ones are shown, but are invalid and cost nothing.
    #[arg(long, value_name = "N", env = "WAXWING_AD_ADDRESS_IMPRESSIONS", default_value_t = TRAFFIC.address_impressions, value_parser = positive())]
    ad_address_impressions: u64,
    /// Valid impressions of one campaign at one address per hour.
    #[arg(long, value_name = "N", env = "WAXWING_AD_CAMPAIGN_IMPRESSIONS", default_value_t = TRAFFIC.campaign_impressions, value_parser = positive())]
    ad_campaign_impressions: u64,
    /// Valid clicks on one website per hour, or ten times its hourly mean of the past week if that is more.
    #[arg(long, value_name = "N", env = "WAXWING_AD_WEBSITE_CLICKS", default_value_t = TRAFFIC.website_clicks, value_parser = positive())]
    ad_website_clicks: u64,
    /// Valid impressions on one website per hour, or ten times its hourly mean of the past week if that is more.
    #[arg(long, value_name = "N", env = "WAXWING_AD_WEBSITE_IMPRESSIONS", default_value_t = TRAFFIC.website_impressions, value_parser = positive())]
    ad_website_impressions: u64,
    /// Proxies whose X-Forwarded-For is trusted: addresses and networks such as 10.0.0.0/8, comma-separated. Default: none; a client's address is
    /// that of its connection.
    #[arg(long, value_name = "NETWORKS", env = "WAXWING_TRUSTED_PROXIES", value_delimiter = ',', value_parser = network)]
    trusted_proxies: Vec<IpNet>,
}

impl RateOptions {
    /// Applies these options to a configuration.
    pub(super) fn apply(&self, config: Config) -> Config {
        let rates = (self.rate_limits == OnOff::On).then(|| RateLimits::new(|limit| self.quota(limit)));
        let ad_traffic = (self.rate_limits == OnOff::On).then(|| self.ad_traffic());
        Config { rates, ad_traffic, trusted_proxies: self.trusted_proxies.clone(), ..config }
    }

    const fn ad_traffic(&self) -> AdTraffic {
        AdTraffic {
            address_clicks: self.ad_address_clicks,
            campaign_clicks: self.ad_campaign_clicks,
            address_impressions: self.ad_address_impressions,
            campaign_impressions: self.ad_campaign_impressions,
            website_clicks: self.ad_website_clicks,
            website_impressions: self.ad_website_impressions,
        }
    }

    const fn quota(&self, limit: Limit) -> Quota {
        match limit {
            Limit::Requests => self.rate_requests,
            Limit::SignUps => self.rate_sign_ups,
            Limit::LogIns => self.rate_log_ins,
            Limit::LogInsFromAddress => self.rate_log_ins_from_address,
            Limit::LogInsOfAccount => self.rate_log_ins_of_account,
            Limit::LogInsOfDevice => self.rate_log_ins_of_device,
            Limit::Posts => self.rate_posts,
            Limit::Follows => self.rate_follows,
            Limit::Likes => self.rate_likes,
            Limit::Comments => self.rate_comments,
            Limit::Votes => self.rate_votes,
            Limit::Lists => self.rate_lists,
            Limit::Relations => self.rate_relations,
            Limit::Reposts => self.rate_reposts,
            Limit::Edits => self.rate_edits,
            Limit::SavedItems => self.rate_saved_items,
            Limit::Campaigns => self.rate_campaigns,
            Limit::Messages => self.rate_messages,
            Limit::Chats => self.rate_chats,
            Limit::ChatMembers => self.rate_chat_members,
            Limit::Reactions => self.rate_reactions,
            Limit::Typing => self.rate_typing,
            Limit::ChatSettings => self.rate_chat_settings,
            Limit::Mails => self.rate_mails,
            Limit::MailsFromAddress => self.rate_mails_from_address,
            Limit::Keys => self.rate_keys,
            Limit::Ads => self.rate_ads,
        }
    }
}

/// Parses a number from 1 to a billion.
fn positive() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..=1_000_000_000)
}

/// Parses a network, or an address as a network of one address.
fn network(text: &str) -> Result<IpNet, String> {
    let text = text.trim();
    let address = || text.parse::<IpAddr>().map(|address| IpNet::from(address.to_canonical()));
    text.parse().or_else(|_| address()).map_err(|_| "neither an address nor a network".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct RateCommandLine {
        #[command(flatten)]
        options: RateOptions,
    }

    fn config(words: &[&str]) -> Result<Config, clap::Error> {
        let line = RateCommandLine::try_parse_from(["waxwing"].iter().chain(words))?;
        Ok(line.options.apply(Config::default()))
    }

    #[test]
    fn limits_are_on_unless_they_are_switched_off() {
        assert_eq!(config(&[]).expect("no options").rates, Some(RateLimits::default()));
        let default = AdTraffic::default();
        assert_eq!(config(&[]).expect("no options").ad_traffic, Some(default));
        assert_eq!(config(&["--rate-limits", "off"]).expect("off").ad_traffic, None);
        assert_eq!(
            config(&["--ad-address-clicks", "7"]).expect("clicks").ad_traffic,
            Some(AdTraffic { address_clicks: 7, ..default })
        );
        assert_eq!(config(&["--rate-limits", "on"]).expect("on").rates, Some(RateLimits::default()));
        assert_eq!(config(&["--rate-limits", "off", "--rate-posts", "1/1s"]).expect("off").rates, None);
        assert!(config(&["--rate-limits", "false"]).is_err());
    }

    #[test]
    fn every_limit_has_an_option_that_sets_it_and_no_other() {
        for limit in Limit::ALL {
            let rates = config(&[&format!("--rate-{}", limit.name()), "7/3m"]).expect("an option").rates.expect("limits");
            for other in Limit::ALL {
                let expected = if other == limit { "7/3m".parse().expect("a quota") } else { other.default_quota() };
                assert_eq!(rates.quota(other), expected, "{} of --rate-{}", other.name(), limit.name());
            }
        }
        for wrong in ["7", "7/0s", "0/1h", "7/3w", "-7/3m"] {
            assert!(config(&[&format!("--rate-posts={wrong}")]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn proxies_are_addresses_and_networks() {
        assert_eq!(config(&[]).expect("no options").trusted_proxies, []);
        let parsed = config(&["--trusted-proxies", "10.0.0.0/8, 192.0.2.1,fd00::/8,::ffff:192.0.2.2"]).expect("networks");
        let networks = ["10.0.0.0/8", "192.0.2.1/32", "fd00::/8", "192.0.2.2/32"].map(|net| net.parse().expect("a network"));
        assert_eq!(parsed.trusted_proxies, networks);
        for wrong in ["localhost", "10.0.0.0/33", "*", "10.0.0.0/8;192.0.2.1"] {
            assert!(config(&["--trusted-proxies", wrong]).is_err(), "{wrong}");
        }
    }
}
