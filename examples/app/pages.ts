/** The pages, in HTML. */
import type { Car, Shared } from './cars.ts';
import type { Shown } from './consent.ts';
import type { Events } from './events.ts';
import { Html, html } from './html.ts';
import { picture, wheel } from './pictures.ts';
import type { Session } from './sessions.ts';

export type Said = { kind: 'good' | 'bad'; text: string } | undefined;

type Page = { title: string; session?: Session | undefined; at?: string; said?: Said; body: Html };

const places = [
  ['/cars', 'My cars'],
  ['/consent', 'Trip data'],
  ['/events', 'Events'],
] as const;

function navigation({ session, at }: Page): Html {
  if (session === undefined) return html`<a class="button small" href="/log-in">Log in</a>`;
  const links = places.map(
    ([path, label]) => html`<a href="${path}"${at === path && new Html(' aria-current="page"')}>${label}</a>`,
  );
  return html`<nav aria-label="Main">${links}</nav>
    <form class="who" method="post" action="/log-out"><span>${session.name}</span><button class="quiet">Log out</button></form>`;
}

export function pageOf(page: Page): string {
  const { title, said, body } = page;
  return html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>${title} – Neighbourhood cars</title>
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <link rel="icon" href="/public/icon.svg">
  <link rel="stylesheet" href="/public/style.css">
</head>
<body>
  <a class="skip" href="#main">Skip to the content</a>
  <header><div class="bar"><a class="brand" href="/">${wheel}Neighbourhood cars</a>${navigation(page)}</div></header>
  <main id="main">
    ${said && html`<p class="notice ${said.kind}" role="${said.kind === 'bad' ? 'alert' : 'status'}">${said.text}</p>`}
    ${body}
  </main>
</body>
</html>`.text;
}

export const home = (failed: boolean): Page => ({
  title: 'Share a car',
  said: failed ? { kind: 'bad', text: 'You are not logged in. Log in again.' } : undefined,
  body: html`<section class="hero">
      <div><h1>One car is enough for the whole street</h1>
      <p>Lend your car to the neighbours you choose, and take it back whenever you like. They drive it from the next minute on.</p>
      <a class="button" href="/log-in">Log in or create an account</a></div>
      ${picture}
    </section>
    <ol class="steps">
      <li><h2>Share</h2><p>Invite a neighbour by email. Only that address can accept.</p></li>
      <li><h2>Drive</h2><p>The car asks Accord each time whether this person may start it.</p></li>
      <li><h2>Decide</h2><p>You say whether neighbours see where you drive, and can change your mind.</p></li>
    </ol>`,
});

export function carsPage(session: Session, cars: readonly Car[]): Page {
  const items = cars.map(
    ({ id, name, plate }) => html`<li><a class="card" href="/cars/${id}">${picture}
      <span class="name">${name}</span><span class="plate">${plate || id}</span></a></li>`,
  );
  return {
    ...{ title: 'My cars', session, at: '/cars' },
    body: html`<h1>My cars</h1>
    ${
      items.length > 0
        ? html`<ul class="cards">${items}</ul>`
        : html`<p class="empty">You have no car yet. Add one, or ask a neighbour to share one with you.</p>`
    }
    <section class="panel" aria-labelledby="add"><h2 id="add">Add a car</h2>
      <form method="post" action="/cars">
        <label>Name <input name="name" required maxlength="60" autocomplete="off" placeholder="Blue Volvo"></label>
        <label>Number plate <input name="plate" required maxlength="12" autocomplete="off" placeholder="12-AB-34"></label>
        <button>Add this car</button>
      </form></section>`,
  };
}

export type Trip = { driver: string; driverName: string };
/** Why the car is not on the map; undefined when it is. */
export type CarView = { car: Car; shares: readonly Shared[]; trip: Trip | undefined; hidden: string | undefined };

function driving({ car, trip, hidden }: CarView, session: Session): Html {
  if (trip === undefined)
    return html`<p>The car is parked.</p>
      <form method="post" action="/cars/${car.id}/drive"><button>Start driving</button></form>`;
  const mine = trip.driver === session.sub;
  return html`<p><strong>${mine ? 'You are driving.' : `${trip.driverName} is driving.`}</strong></p>
    ${
      hidden === undefined
        ? html`<div class="map" role="img" aria-label="Map: the car is on Elm Street"></div><p class="hint">The car is on Elm Street.</p>`
        : html`<p class="hint">The car is not on the map: ${hidden}.${mine && html` <a href="/consent">Read what that is about</a>`}</p>`
    }
    ${mine && html`<form method="post" action="/cars/${car.id}/park"><button class="quiet">Park the car</button></form>`}`;
}

const states: Record<string, string> = { pending: 'waits for an answer', accepted: 'accepted', declined: 'declined' };

export function carPage(
  session: Session,
  view: CarView,
  more: { said?: Said; mailUrl?: string | undefined } = {},
): Page {
  const { car, shares } = view;
  const items = shares.map(
    (one) =>
      html`<li><span>${one.with}</span><span class="tag ${one.status}">${states[one.status] ?? one.status}</span></li>`,
  );
  return {
    ...{ title: car.name, session, at: '/cars', said: more.said },
    body: html`<p><a href="/cars">All my cars</a></p>
    <div class="heading">${picture}<div><h1>${car.name}</h1><p class="plate">${car.plate || car.id}</p></div></div>
    <div class="columns">
      <section class="panel" aria-labelledby="drive"><h2 id="drive">Drive</h2>${driving(view, session)}</section>
      <section class="panel" aria-labelledby="share"><h2 id="share">Share this car</h2>
        <form method="post" action="/cars/${car.id}/share">
          <label>Email address of a neighbour <input name="email" type="email" required maxlength="254" autocomplete="off"></label>
          <button>Send the invitation</button>
        </form>
        ${items.length > 0 && html`<h3>Your invitations</h3><ul class="rows">${items}</ul>`}
        ${more.mailUrl && html`<p class="hint">Mail of this machine is at <a href="${more.mailUrl}">${more.mailUrl}</a>.</p>`}
      </section>
    </div>`,
  };
}

export function deniedPage(session: Session, { car, reason }: { car: string; reason: string }): Page {
  return {
    ...{ title: 'Not allowed', session, at: '/cars' },
    body: html`<section class="panel denied"><h1>The car stays locked</h1>
      <p role="alert" class="reason">${reason}</p>
      <p>Ask its owner to share it with you: the invitation comes by mail.</p>
      <p><a class="button" href="/cars/${car}">Back to the car</a></p></section>`,
  };
}

export function consentPage(session: Session, shown: Shown, said?: Said): Page {
  const { version, document, agreed, text } = shown;
  const fields = html`<input type="hidden" name="version" value="${version}"><input type="hidden" name="document" value="${document.version}">`;
  return {
    ...{ title: 'Trip data', session, at: '/consent', said },
    body: html`<div class="panel">
      <p class="state"><span class="tag ${agreed ? 'accepted' : 'pending'}">${agreed ? 'You agreed' : 'You have not agreed'}</span>
        Version ${version}, text of ${document.version}</p>
      <article class="document">${new Html(text)}</article>
      ${
        agreed
          ? html`<form method="post" action="/consent/withdraw"><button class="quiet">Withdraw my consent</button></form>`
          : html`<form method="post" action="/consent">${fields}<button>I agree</button></form>
            <p class="hint">You can drive without agreeing. The car is then not on the map.</p>`
      }</div>`,
  };
}

const clock = (time: string) => new Date(time).toISOString().slice(11, 19);

export function eventsPage(session: Session, { newest }: Events): Page {
  const items = newest.map(
    ({ id, type, time, subject }) =>
      html`<li data-id="${id}"><time datetime="${time}">${clock(time)}</time><strong>${type}</strong><span>${subject}</span></li>`,
  );
  return {
    ...{ title: 'Events', session, at: '/events' },
    body: html`<h1>Events</h1>
    <p>What happened in the tenant since this application started. Accord sends each event; the application shows those whose
      signature it verified. New ones appear by themselves.</p>
    <ol class="panel events" id="events" aria-live="polite">${items}</ol>
    <p class="hint" id="none"${items.length > 0 && new Html(' hidden')}>Nothing happened yet.</p>
    <script type="module" src="/public/live.js"></script>`,
  };
}

export const errorPage = (session: Session | undefined, title: string, detail: string): Page => ({
  ...{ title, session },
  body: html`<section class="panel denied"><h1>${title}</h1><p role="alert">${detail}</p><p><a class="button" href="/cars">My cars</a></p></section>`,
});
