// The entry of the page of the ad network: the address says whose side is shown and which campaign, the session whose they are.
import '../theme.css';
import '../session/session.css';
import '../page.css';
import './ads.css';
import { sessionBar } from '../session/session-bar.js';
import { current, subscribe } from '../session/store.js';
import { CampaignView } from './campaign.js';
import { newCampaign } from './campaign-form.js';
import { campaignList, markCampaign } from './campaigns.js';
import { goTo, goToSide, onLink, openCampaign, openSide } from './link.js';
import { TrySlot } from './try-slot.js';
import { registerForm, websiteList } from './websites.js';

const by = (id) => document.getElementById(id);
const sides = by('side').elements.side;
const campaigns = campaignList(by('campaigns'));
const campaign = new CampaignView(by('campaign'), () => void readCampaigns());
const slot = new TrySlot(by('slot'));
const websites = websiteList(by('websites'), (key) => slot.use(key));
let session;
let side;

async function readCampaigns() {
  await campaigns.read();
  markCampaign(by('campaigns'), openCampaign());
}

// What the address asks for, and the session may see. Reading a campaign reads the list anew too.
async function show() {
  const id = openCampaign();
  const isShown = Boolean(session && id);
  side = sides.value = openSide();
  by('campaigns').hidden = side !== 'advertiser';
  by('websites').hidden = by('slot').hidden = side !== 'publisher';
  by('new').hidden = !isShown || id !== 'new';
  by('welcome').hidden = isShown || side !== 'advertiser';
  by('welcome').firstElementChild.textContent = session ? 'Choose a campaign, or make a new one.' : 'Log in to see your campaigns.';
  const isOne = isShown && id !== 'new';
  if (session && !isOne) void readCampaigns();
  markCampaign(by('campaigns'), id);
  await campaign.open(isOne ? id : null);
}

// Whoever follows a link goes on at the heading of what it leads to; whoever changes sides is at the switch.
async function linkChanged() {
  const [before, link] = [side, location.hash];
  await show();
  if (location.hash === link && before === side) by(openCampaign() === 'new' ? 'new-title' : 'campaign-title').focus();
}

function sessionChanged() {
  const before = session;
  session = current().session;
  if (session === before) return;
  by('new-campaign').hidden = by('register').hidden = !session;
  for (const form of [by('register'), made]) form.reset();
  campaigns.clear(session ? '' : 'Log in to see your campaigns.');
  websites.clear(session ? '' : 'Log in to see and register websites. With a key that you have, you can try a slot.');
  if (session) void websites.read();
  void show();
}

const made = newCampaign(goTo);
made.querySelector('.cancel').addEventListener('click', () => goTo(null));
by('new').append(made);
registerForm(by('register'), (website) => {
  void websites.read();
  slot.use(website.key);
});
by('side').addEventListener('change', () => goToSide(sides.value));
onLink(linkChanged);
subscribe(sessionChanged);
sessionBar(by('session'));
sessionChanged();
