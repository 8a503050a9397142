const list = (...items: readonly string[]): string => items.map((item) => `- ${item}`).join('\n')

/** What a client has to know of the websocket besides its frames; paragraphs and lists apart by empty lines. */
export const socketGuide = [
  'One websocket per client: plain JSON text frames, one object each. Frames name their channel in `ch`, so one socket ' +
    'serves all subscriptions of a client. Clients act over HTTP; no frame moves value, and the frames of a request come ' +
    'after its answer.',

  '**Connecting**',
  list(
    '**Token.** `Authorization: Bearer …` on the upgrade, or, where headers cannot be set (browsers), an `auth` frame as ' +
      'the first one, within 10 seconds. A token in the address is refused.',
    '**Client and language.** `Client-Type`, `Client-Version`, `lang` and `Accept-Language` mean what they mean for ' +
      'requests of HTTP; browsers send them in the query of the address. The language is that of `notification` and of ' +
      'the `message` of `err`.',
    '**A refused upgrade** is an HTTP answer with the body of any error: 400 (`token_in_url`, `bad_handshake`, ' +
      '`not_a_websocket`), 401 (`unauthenticated`, `unknown_user`), 403 (`origin_not_allowed`, or `forbidden` for a token ' +
      'of staff), 429 (`rate_limited`, with Retry-After), 440 (`session_expired`) and 500 (`unavailable`); 426 and 503 ' +
      'have the body of app-status. Browsers show none of them, only close code 1006: a page asks app-status before it ' +
      'tries again. When too many clients come at once, the upgrade succeeds, and `bye` and 4100 follow.',
    '**Heartbeats.** Every `heartbeat` seconds (see `ready`) the service sends a ping of the websocket protocol, which ' +
      'libraries answer by themselves, and an `hb` frame, which needs no answer. Two pings without an answer end in 4201. ' +
      'A client that received nothing for more than two heartbeats should reconnect.',
  ),

  '**Order and resuming**',
  list(
    '**Order.** The events of a channel come in the order of the ledger, each once on a socket. `prev` is the position of ' +
      'the event before it on the channel. A client that holds the channel up to position P (from `ready`, `subbed` or its ' +
      'newest event) has missed something exactly when `prev` is above P: the first frame after a `sub` without `since` is ' +
      'no gap, though its `prev` is a position that the client never received.',
    '**Several frames of one event.** A ledger event can have several frames on a channel, with the same `position` and ' +
      '`prev`, and with the ids `41.0`, `41.1` and so on. They are sent together with nothing in between, but the ' +
      'connection can break between them. So the newest event of a channel counts as complete once any other frame has ' +
      'come after it.',
    '**Resuming.** After a reconnect send `sub` with `since`, for each channel: the `position` of its newest event that is ' +
      'complete. While it may not be complete that is its `prev` (`"0"` for null). Skip frames whose `id` you have. With ' +
      'this nothing is lost and nothing is shown twice.',
    '**The own channel.** After `ready` a client is subscribed to `user:{id}` and `global`, but not resumed. Send `sub` with ' +
      '`since` for `user:{id}`, too; for half a second its new events wait for that.',
    '**Answer.** `subbed` comes first, with `position` as in `since`; then what was missed, then what is new, without a mark ' +
      'in between. Events can be replayed for 10 minutes, and the newest 1,000 of a channel. With `"resumed":false` ' +
      'something was missed that is older: nothing is replayed. Read the room, or the wallet and the notifications, by ' +
      'REST, and continue from the `position` of `subbed`.',
    '**State.** `wallet-changed` and `app-status` are the state as it is now. They are not sent on connecting and, like ' +
      '`lucky-big-win-all`, never replayed: read `GET /wallet` after each reconnect.',
  ),

  '**Pictures and names.** Gifts in frames carry storage paths and the English name. Look up the id of the gift in ' +
    '`GET /api/v1/decorations` for `image_url`, `video_url` and the name in the language of the user.',

  '**rot41.** A frame with `"enc":"rot41"` has its `image_path`, `video_path` and `current_profile_image_url` encoded: each ' +
    'character from `!` (33) to `~` (126) is moved 41 places forward, after `~` on from `!`; others stay. To decode, move ' +
    'them 41 places back: code = (code - 33 + 53) mod 94 + 33. `gifts/rose.svg` is encoded as `241?>X=:>0W>A2`.',
].join('\n\n')
