import type { FrameErrorCode } from '../../../../schema/frames.ts'
import { formatText, htmlPage } from './html-page.ts'

/** What a code means, and what a client does or shows. In both, text in backticks is code. */
interface CodeMeaning {
  readonly means: string
  readonly show: string
}

type CodeMeanings = Readonly<Record<string, CodeMeaning>>

/** What every code of the documented operations and frames means and what a client shows. */
export const codesPage = (): string =>
  htmlPage(
    'Live economy, codes',
    `<h1>Codes</h1>
<p><a href="/docs">The HTTP interface</a> · <a href="/docs/sockets">The websocket interface</a></p>
<p><code>code</code> is for programs and never changes its meaning. <code>message</code> is a sentence for people in the
language of the request. Show it where the table says message, and for a code that is not in it.</p>
<h2>Errors of HTTP</h2>
<p>426 and 503 of client operations have no code: their body is that of <code>app-status</code>. A request that no client
library sends, such as one with too large headers, may be answered with a further code: show its message.</p>
${table(httpCodes)}
<h2>Refused upgrades of the websocket</h2>
<p>Further codes are those of HTTP: of tokens, of the rate limit, and <code>forbidden</code> for a token of staff.</p>
${table(upgradeCodes)}
<h2>err frames</h2>
${table(frameCodes)}
<p>Close codes are explained in <a href="/docs/sockets#close-codes">the websocket interface</a>.</p>`,
  )

const table = (codes: CodeMeanings): string => `<table>
<thead><tr><th>code</th><th>means</th><th>show</th></tr></thead>
<tbody>
${Object.entries(codes)
  .map(
    ([code, { means, show }]) =>
      `<tr><td><code>${code}</code></td><td>${formatText(means)}</td><td>${formatText(show)}</td></tr>`,
  )
  .join('\n')}
</tbody>
</table>`

/** Codes of HTTP errors. */
export const httpCodes: CodeMeanings = {
  already_acknowledged: { means: 'a colleague acknowledged the finding before', show: 'message, and the steps' },
  already_joined: { means: 'the caller is in this game', show: 'the game' },
  bad_request: { means: 'the request is not HTTP', show: 'nothing; a fault of the client' },
  balance_limit: { means: 'a balance would pass 2^53-1', show: 'message' },
  body_too_large: { means: 'over 64 KiB (1 MiB for staff)', show: 'nothing; a fault of the client' },
  card_already_activated: { means: 'the card was used', show: 'message, and read the wallet again' },
  closing_incomplete: { means: 'steps of the closing are not done', show: 'message, and the steps' },
  closing_outdated: { means: 'its files were changed, or were made of other books', show: 'message, and the steps' },
  closing_step_failed: { means: 'a step of the closing found something', show: 'message, and the step' },
  finding_not_acknowledgeable: {
    means: 'a wrong hash, or a table that differs from the ledger',
    show: 'message, and the step',
  },
  forbidden: { means: 'a token of another kind: staff here, users there', show: 'nothing; a fault of the client' },
  game_already_open: { means: 'the room has an open game', show: 'that game' },
  game_cancelled: { means: 'it was cancelled', show: 'message, and read the game again' },
  game_finished: { means: 'the wheel was spun', show: 'message, and read the game again' },
  game_full: { means: 'no seat is left', show: 'message' },
  holding_limit: { means: 'a wallet, a bag or a list that is answered whole is full', show: 'message' },
  idempotency_key_reused: { means: 'the key was used for another request', show: 'nothing; a fault of the client' },
  in_open_game: { means: "seated in the room's open game", show: 'message, with a way to leave the game' },
  insufficient_balance: { means: 'less is available than it costs', show: 'message, with a way to recharge' },
  insufficient_items: { means: 'the bag holds fewer', show: 'message, and read the bag again' },
  internal: { means: 'a fault of the service', show: '"Something went wrong", with the `request_id`' },
  invalid_json: { means: 'the body is not JSON in UTF-8', show: 'nothing; a fault of the client' },
  invalid_transition: { means: 'the request is decided already', show: 'message, and read the request again' },
  month_before_ledger: { means: 'nothing had happened by then', show: 'message' },
  month_closed: { means: 'the month was closed before', show: 'the closing' },
  month_not_over: { means: 'the month ends later, in UTC', show: 'message' },
  month_out_of_order: { means: 'another month comes first', show: 'message' },
  not_card_owner: { means: "somebody else's card was to be sent", show: 'message, and read the wallet again' },
  not_enough_players: { means: 'fewer than two are in the game', show: 'message' },
  not_found: {
    means: 'there is no such thing, or an id that cannot be one',
    show: 'that it is gone; leave the screen',
  },
  not_game_creator: { means: 'only the creator cancels', show: 'message' },
  not_in_game: { means: 'only players and the creator spin', show: 'message' },
  not_joined: { means: 'the caller is not in this game', show: 'the game' },
  not_room_member: { means: 'the caller is no member of the room', show: 'a way to join' },
  not_the_sender: { means: '`u_id` is another user', show: 'nothing; a fault of the client' },
  not_your_card: { means: "somebody else's card was to be activated", show: 'message, and read the wallet again' },
  not_your_decision: { means: 'another party decides this', show: 'message' },
  not_your_withdrawal: { means: 'the caller has no part in the request', show: 'leave the screen' },
  nothing_to_do: { means: 'nothing of a proposal is left to do', show: 'message, and read the proposal again' },
  overloaded: { means: 'too much at once', show: 'a spinner, and retry after `Retry-After`' },
  own_finding: { means: 'who did it does not acknowledge it', show: 'message' },
  own_proposal: { means: 'who makes a proposal does not approve it', show: 'message' },
  precondition_failed: { means: 'it was changed meanwhile, or exists already', show: 'message, and read it again' },
  proposal_changed: {
    means: 'it would do something else than what was shown',
    show: 'the proposal in `data`, as it would be now',
  },
  proposal_closed: { means: 'it is decided, or its 7 days are over', show: 'message, and read the proposal again' },
  rate_limited: { means: 'a rate limit or allowance is used up', show: 'a spinner, and retry after `Retry-After`' },
  room_owner: { means: 'an owner cannot leave or be removed', show: 'message' },
  same_user: { means: 'a card to oneself', show: 'message' },
  session_expired: { means: 'the token is over', show: 'the login' },
  steps_running: { means: 'a step of the closing is running', show: 'message, and the steps' },
  too_few_days: { means: 'the card would add less than a day', show: 'message' },
  unauthenticated: { means: 'no valid token', show: 'the login' },
  unavailable: { means: 'the database is away', show: 'a spinner, and retry' },
  unknown_user: { means: 'the user was not announced', show: 'the login; tell the login service' },
  unsupported_media_type: { means: 'the body is not `application/json`', show: 'nothing; a fault of the client' },
  user_forgotten: { means: 'the data of the user was erased', show: 'message' },
  validation_failed: { means: 'fields are wrong', show: 'the sentences of `errors` beside their fields' },
  validity_limit: { means: 'a privilege would last beyond the year 9999', show: 'message' },
  verification_running: { means: 'one verification runs at a time', show: 'that verification' },
  version_required: { means: 'neither `version` nor `If-Match`', show: 'nothing; a fault of the client' },
}

/** Codes of the refusals of a websocket's upgrade, besides those of tokens, of limits and of the app's state. */
export const upgradeCodes: CodeMeanings = {
  bad_handshake: {
    means: 'the upgrade request is not one of WebSocket version 13',
    show: 'nothing; a fault of the client',
  },
  not_a_websocket: {
    means: 'an ordinary request to the address of the websocket',
    show: 'nothing; a fault of the client',
  },
  origin_not_allowed: { means: 'the page is of an origin that may not connect', show: 'nothing; tell the operator' },
  token_in_url: { means: 'a token in the address, where it would be logged', show: 'nothing; a fault of the client' },
}

/** Codes of `err` frames. */
export const frameCodes = {
  bad_frame: {
    means: 'the frame is not one of those of a client, or not JSON',
    show: 'nothing; a fault of the client',
  },
  forbidden: { means: "the channel is another user's", show: 'nothing; a fault of the client' },
  not_room_member: { means: 'the user is no member of the room', show: 'a way to join' },
  too_many_channels: { means: 'the socket is subscribed to 50 rooms', show: 'nothing; unsubscribe from one' },
  unavailable: { means: 'the database is away; `retry` is true', show: 'nothing; send the same frame again' },
  unknown_channel: { means: 'there is no such channel', show: 'nothing; a fault of the client' },
} as const satisfies Readonly<Record<FrameErrorCode, CodeMeaning>>
