/** From asking for the token to `ready`. */
const CONNECT_TIMEOUT_MS = 15_000
/** Silence after which a connection is dead: a bit over two heartbeats. */
const MAX_SILENT_HEARTBEATS = 2.2
/** The first reconnect comes within so long; each failure doubles it. Wide, as many clients may lose one instance. */
const MIN_BACKOFF_MS = 5_000
const MAX_BACKOFF_MS = 60_000
/** After close codes 42xx, and before a refused subscription is tried again. */
const MAX_PROMPT_DELAY_MS = 1_000
const MAX_RETRY_DELAY_MS = 5_000
/** In one `sub` frame. */
const MAX_CHANNELS = 50
/** Channels that are added within so long go in one frame: a socket may send 20 in a second. */
const GATHER_MS = 20

/**
 * Receives the events of channels, each once and in order, over one websocket that it opens again whenever it is lost.
 * For browsers and Node.js 22 or newer. Starts paused; another user needs another one.
 */
export class RoomClient {
  #url
  #token
  #handlers
  /**
   * By name: the position to resume from, the newest one, the ids of the frames that were received of it, and the ledger
   * that these belong to.
   */
  #channels = new Map()
  /** Channels of the current socket whose `subbed` has come. */
  #subscribed = new Set()
  /** Names that wait for a common frame. */
  #added = new Set()
  #socket
  /** What positions belong to: another one than before says that the service lost some of what was announced. */
  #ledger
  /** Aborted when the current socket is given up. */
  #listening
  #isReady = false
  #isPaused = true
  #isStopped = false
  #isExpired = false
  #silenceMs = CONNECT_TIMEOUT_MS
  #retryMs
  #failures = 0
  /** One timer: the connect timeout, the watchdog of an open connection, or the wait for the next one. */
  #timer

  /**
   * `token(isExpired)` resolves with a valid token, a new one if the last had expired. Handlers:
   * `onEvent(frame)`; `onState(channel, state)` with a room for its first screen; `onReload(channel)` when too much was
   * missed, so that the room has to be read by REST; `onRefused(frame)` when a channel was refused or taken away;
   * `onStopped(code)` when only a log-in or an update helps.
   */
  constructor(url, token, handlers) {
    this.#url = url
    this.#token = token
    this.#handlers = handlers
  }

  /** `channel` is `one-to-room:{room_uid}`; the user's own and `global` need no call. */
  subscribe(channel) {
    if (this.#channels.has(channel)) return
    this.#channels.set(channel, { since: undefined, newest: undefined, seen: new Set(), ledger: undefined })
    if (!this.#isReady) return
    if (this.#added.size === 0) setTimeout(() => this.#subscribeToAdded(), GATHER_MS)
    this.#added.add(channel)
  }

  unsubscribe(channel) {
    this.#channels.delete(channel)
    if (this.#isReady) this.#send({ t: 'unsub', ch: channel })
  }

  /** Connects. Called at the start, and when the app comes to the foreground. */
  resume() {
    if (!this.#isPaused || this.#isStopped) return
    this.#isPaused = false
    void this.#open()
  }

  /** Disconnects and keeps the positions. Called when the app goes to the background, and at its end. */
  pause() {
    this.#isPaused = true
    this.#drop()
  }

  async #open() {
    const listening = new AbortController()
    const { signal } = listening
    this.#listening = listening
    this.#subscribed = new Set()
    this.#silenceMs = CONNECT_TIMEOUT_MS
    this.#wait(CONNECT_TIMEOUT_MS, () => this.#reconnect())
    let token
    try {
      // Before the socket opens: the service waits for it for 10 seconds only, and then means a log-in (4001).
      token = await this.#token(this.#isExpired)
    } catch {
      if (!signal.aborted) this.#reconnect()
      return
    }
    if (signal.aborted) return
    const socket = new WebSocket(this.#url)
    this.#socket = socket
    socket.addEventListener('open', () => this.#send({ t: 'auth', token }), { signal })
    socket.addEventListener('message', ({ data }) => this.#onMessage(data), { signal })
    socket.addEventListener('close', ({ code }) => this.#reconnect(code), { signal })
  }

  #onMessage(data) {
    this.#wait(this.#silenceMs, () => this.#reconnect())
    this.#onFrame(JSON.parse(data))
  }

  #onFrame(frame) {
    const channel = this.#channels.get(frame.ch)
    if (frame.t === 'ready') this.#onReady(frame)
    else if (frame.t === 'hb') this.#onHeartbeat()
    else if (frame.t === 'bye') this.#retryMs = frame.retry_ms
    else if (frame.t === 'subbed' && channel !== undefined) this.#onSubscribed(channel, frame)
    else if (frame.t === 'ev') this.#onEvent(channel, frame)
    else if (frame.code !== undefined && channel !== undefined) this.#onRefused(frame)
  }

  #onReady({ heartbeat, user_id, position, ledger }) {
    this.#isReady = true
    this.#ledger = ledger
    this.#isExpired = false
    this.#silenceMs = heartbeat * 1_000 * MAX_SILENT_HEARTBEATS
    this.#wait(this.#silenceMs, () => this.#reconnect())
    const own = `user:${user_id}`
    if (!this.#channels.has(own))
      this.#channels.set(own, { since: position, newest: position, seen: new Set(), ledger })
    this.#subscribeTo([...this.#channels.keys()])
  }

  #subscribeToAdded() {
    const names = [...this.#added].filter((name) => this.#channels.has(name))
    this.#added.clear()
    if (this.#isReady) this.#subscribeTo(names)
  }

  #subscribeTo(names) {
    // One for all channels of a frame: a channel may have missed that the ledger is another one.
    for (const [ledger, group] of Map.groupBy(names, (name) => this.#channels.get(name).ledger ?? this.#ledger)) {
      const chs = group.map((name) => this.#request(name))
      for (let at = 0; at < chs.length; at += MAX_CHANNELS)
        this.#send({ t: 'sub', ledger, chs: chs.slice(at, at + MAX_CHANNELS) })
    }
  }

  #request(name) {
    const { since } = this.#channels.get(name)
    return since === undefined ? { ch: name, state: true } : { ch: name, since }
  }

  #onHeartbeat() {
    this.#failures = 0
    // The newest event has come as a whole, so that it need not be sent again.
    for (const channel of this.#subscribed) channel.since = channel.newest
  }

  #onSubscribed(channel, { ch, position, resumed, state }) {
    this.#subscribed.add(channel)
    if (!resumed || channel.since === undefined) this.#advance(channel, position, position)
    if (!resumed) this.#handlers.onReload(ch)
    if (state !== undefined) this.#handlers.onState(ch, state)
  }

  #onEvent(channel, frame) {
    if (channel === undefined && frame.ch !== 'global') return
    // State, such as wallet-changed, has no id.
    if (channel !== undefined && frame.id !== undefined) {
      if (channel.seen.has(frame.id)) return
      // The connection may break between two frames of one event: until the next heartbeat it is asked for again.
      if (frame.position !== channel.newest) this.#advance(channel, frame.position, frame.prev ?? '0')
      channel.seen.add(frame.id)
    }
    this.#handlers.onEvent(frame)
  }

  #advance(channel, newest, since) {
    channel.newest = newest
    channel.since = since
    channel.ledger = this.#ledger
    channel.seen.clear()
  }

  #onRefused(frame) {
    if (frame.retry !== true) {
      this.#channels.delete(frame.ch)
      this.#handlers.onRefused(frame)
      return
    }
    const socket = this.#socket
    setTimeout(() => {
      if (socket !== this.#socket || !this.#channels.has(frame.ch)) return
      this.#subscribeTo([frame.ch])
    }, Math.random() * MAX_RETRY_DELAY_MS)
  }

  /** `code` is that of the close frame, if one came. */
  #reconnect(code = 0) {
    this.#drop()
    if (code >= 4000 && code < 4100) {
      this.#isStopped = true
      this.#handlers.onStopped(code)
      return
    }
    if (code === 4202) this.#isExpired = true
    const isPrompt = code >= 4200 && code < 4300 && this.#failures === 0
    const within = isPrompt ? MAX_PROMPT_DELAY_MS : Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** this.#failures)
    // The service has spread retry_ms over its clients itself.
    this.#wait(this.#retryMs ?? Math.random() * within, () => void this.#open())
    this.#failures += 1
    this.#retryMs = undefined
  }

  /** Does not wait for the close frame of a connection that may be dead. */
  #drop() {
    clearTimeout(this.#timer)
    this.#isReady = false
    this.#listening?.abort()
    this.#socket?.close()
    this.#socket = undefined
  }

  #wait(ms, action) {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => action(), ms)
  }

  #send(frame) {
    this.#socket.send(JSON.stringify(frame))
  }
}
