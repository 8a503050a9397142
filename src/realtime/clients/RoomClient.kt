import java.io.IOException
import java.util.concurrent.Executors
import java.util.concurrent.ScheduledFuture
import java.util.concurrent.TimeUnit
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.Response
import okhttp3.WebSocket
import okhttp3.WebSocketListener
import org.json.JSONArray
import org.json.JSONObject

/**
 * Receives the events of channels, each once and in order, over one websocket that it opens again whenever it is lost.
 * Starts paused; another user needs another one. `token` answers a valid token, a new one if the last had expired, and
 * throws an IOException when it cannot.
 */
class RoomClient(
  private val url: String,
  private val token: (isExpired: Boolean) -> String,
  private val listener: Listener,
  private val http: OkHttpClient = OkHttpClient(),
) {
  /** Called in the client's own thread. `channel` is `one-to-room:{room_uid}`, `user:{id}` or `global`. */
  interface Listener {
    fun onEvent(frame: JSONObject)

    /** The room for its first screen. */
    fun onState(channel: String, state: JSONObject)

    /** Too much was missed: the room has to be read by REST. */
    fun onReload(channel: String)

    /** The channel was refused or taken away. */
    fun onRefused(frame: JSONObject)

    /** Only a log-in or an update helps. `code` is that of the close frame or of HTTP. */
    fun onStopped(code: Int)
  }

  /**
   * The position to resume from, the newest one, the ids of the frames that were received of it, and the ledger that these
   * belong to.
   */
  private class Channel(var since: String? = null, var ledger: String? = null) {
    var newest = since
    val seen = HashSet<String>()
  }

  /** Everything below happens in this thread. */
  private val thread = Executors.newSingleThreadScheduledExecutor()
  private val channels = LinkedHashMap<String, Channel>()

  /** Channels of the current socket whose `subbed` has come. */
  private val subscribed = HashSet<Channel>()

  /** Names that wait for a common frame. */
  private val added = LinkedHashSet<String>()
  private var socket: WebSocket? = null

  /** What positions belong to: another one than before says that the service lost some of what was announced. */
  private var ledger: String? = null
  private var isReady = false
  private var isPaused = true
  private var isStopped = false
  private var isExpired = false
  private var silenceMs = CONNECT_TIMEOUT_MS
  private var retryMs: Long? = null
  private var failures = 0

  /** One timer: the connect timeout, the watchdog of an open connection, or the wait for the next one. */
  private var timer: ScheduledFuture<*>? = null

  /** The user's own channel and `global` need no call. */
  fun subscribe(channel: String) = thread.execute {
    if (channels.putIfAbsent(channel, Channel()) == null && isReady) {
      if (added.isEmpty()) thread.schedule(Runnable { subscribeToAdded() }, GATHER_MS, TimeUnit.MILLISECONDS)
      added += channel
    }
  }

  fun unsubscribe(channel: String) = thread.execute {
    channels.remove(channel)
    if (isReady) send(JSONObject().put("t", "unsub").put("ch", channel))
  }

  /** Connects. Called at the start, and when the app comes to the foreground. */
  fun resume() = thread.execute {
    if (isPaused && !isStopped) {
      isPaused = false
      open()
    }
  }

  /** Disconnects and keeps the positions. Called when the app goes to the background. */
  fun pause() = thread.execute {
    isPaused = true
    socket?.close(1000, null)
    socket = null
    drop()
  }

  private fun open() {
    silenceMs = CONNECT_TIMEOUT_MS
    after(silenceMs) { reconnect() }
    val bearer = try { token(isExpired) } catch (_: IOException) { return reconnect() }
    val request = Request.Builder().url(url).header("Authorization", "Bearer $bearer").build()
    socket = http.newWebSocket(request, object : WebSocketListener() {
      override fun onMessage(webSocket: WebSocket, text: String) = ifPresent(webSocket) {
        after(silenceMs) { reconnect() }
        onFrame(JSONObject(text))
      }

      override fun onClosing(webSocket: WebSocket, code: Int, reason: String) = ifPresent(webSocket) {
        webSocket.close(1000, null)
        socket = null
        reconnect(code)
      }

      override fun onFailure(webSocket: WebSocket, t: Throwable, response: Response?) = ifPresent(webSocket) {
        when (val status = response?.code) {
          401, 403, 426 -> stop(status)
          440 -> reconnect(EXPIRED)
          else -> reconnect(retryAfterS = response?.header("Retry-After")?.toLongOrNull() ?: 0)
        }
      }
    })
  }

  private fun ifPresent(webSocket: WebSocket, action: () -> Unit) = thread.execute {
    if (webSocket === socket) action()
  }

  private fun onFrame(frame: JSONObject) {
    val channel = channels[frame.optString("ch")]
    when (frame.getString("t")) {
      "ready" -> onReady(frame)
      "hb" -> onHeartbeat()
      "bye" -> retryMs = frame.getLong("retry_ms")
      "subbed" -> if (channel != null) onSubscribed(channel, frame)
      "ev" -> onEvent(channel, frame)
      "err", "unsubbed" -> if (channel != null && frame.has("code")) onRefused(frame)
    }
  }

  private fun onReady(frame: JSONObject) {
    isReady = true
    isExpired = false
    ledger = frame.getString("ledger")
    silenceMs = (frame.getDouble("heartbeat") * 1_000 * MAX_SILENT_HEARTBEATS).toLong()
    after(silenceMs) { reconnect() }
    channels.putIfAbsent("user:${frame.getLong("user_id")}", Channel(frame.getString("position"), ledger))
    subscribeTo(channels.keys)
  }

  private fun subscribeToAdded() {
    val names = added.filter(channels::containsKey)
    added.clear()
    if (isReady) subscribeTo(names)
  }

  /** With a frame for each ledger: a channel may have missed that it is another one. */
  private fun subscribeTo(names: Collection<String>) = names.groupBy { channels[it]?.ledger ?: ledger }.forEach { (known, group) ->
    group.chunked(MAX_CHANNELS).forEach { chunk ->
      val requests = chunk.map { name ->
        val since = channels[name]?.since
        val request = JSONObject().put("ch", name)
        if (since == null) request.put("state", true) else request.put("since", since)
      }
      send(JSONObject().put("t", "sub").put("ledger", known).put("chs", JSONArray(requests)))
    }
  }

  private fun advance(channel: Channel, position: String, resumeFrom: String) {
    channel.newest = position
    channel.since = resumeFrom
    channel.ledger = ledger
    channel.seen.clear()
  }

  private fun onHeartbeat() {
    failures = 0
    // The newest event has come as a whole, so that it need not be sent again.
    for (channel in subscribed) channel.since = channel.newest
  }

  private fun onSubscribed(channel: Channel, frame: JSONObject) {
    subscribed += channel
    val position = frame.getString("position")
    val isResumed = frame.getBoolean("resumed")
    if (!isResumed || channel.since == null) advance(channel, position, position)
    if (!isResumed) listener.onReload(frame.getString("ch"))
    frame.optJSONObject("state")?.let { listener.onState(frame.getString("ch"), it) }
  }

  private fun onEvent(channel: Channel?, frame: JSONObject) {
    if (channel == null && frame.getString("ch") != "global") return
    // State, such as wallet-changed, has no id.
    if (channel != null && frame.has("id")) {
      val id = frame.getString("id")
      if (id in channel.seen) return
      val position = frame.getString("position")
      // The connection may break between two frames of one event: until the next heartbeat it is asked for again.
      if (position != channel.newest) advance(channel, position, frame.opt("prev") as? String ?: "0")
      channel.seen += id
    }
    listener.onEvent(frame)
  }

  private fun onRefused(frame: JSONObject) {
    val name = frame.getString("ch")
    if (!frame.optBoolean("retry")) {
      channels.remove(name)
      return listener.onRefused(frame)
    }
    val refusing = socket
    val again = { if (refusing === socket && name in channels) subscribeTo(listOf(name)) }
    thread.schedule(again, random(MAX_RETRY_DELAY_MS), TimeUnit.MILLISECONDS)
  }

  /** `code` is that of the close frame, if one came. */
  private fun reconnect(code: Int = 0, retryAfterS: Long = 0) {
    if (code in 4000..4099) return stop(code)
    drop()
    if (code == EXPIRED) isExpired = true
    val isPrompt = code in 4200..4299 && failures == 0
    val within = if (isPrompt) MAX_PROMPT_DELAY_MS else minOf(MAX_BACKOFF_MS, MIN_BACKOFF_MS shl minOf(failures, 6))
    // The service has spread retry_ms over its clients itself.
    after(retryMs ?: (retryAfterS * 1_000 + random(within)), ::open)
    failures += 1
    retryMs = null
  }

  private fun stop(code: Int) {
    drop()
    isStopped = true
    listener.onStopped(code)
  }

  /** Does not wait for the close frame of a connection that may be dead. */
  private fun drop() {
    timer?.cancel(false)
    isReady = false
    subscribed.clear()
    socket?.cancel()
    socket = null
  }

  private fun after(ms: Long, action: () -> Unit) {
    timer?.cancel(false)
    timer = thread.schedule(action, ms, TimeUnit.MILLISECONDS)
  }

  private fun send(frame: JSONObject) {
    socket?.send(frame.toString())
  }

  private fun random(maxMs: Long): Long = (Math.random() * maxMs).toLong()

  private companion object {
    /** From asking for the token to `ready`. */
    const val CONNECT_TIMEOUT_MS = 15_000L

    /** Silence after which a connection is dead: a bit over two heartbeats. */
    const val MAX_SILENT_HEARTBEATS = 2.2

    /** The first reconnect comes within so long; each failure doubles it. Wide, as many clients may lose one instance. */
    const val MIN_BACKOFF_MS = 5_000L
    const val MAX_BACKOFF_MS = 60_000L

    /** After close codes 42xx, and before a refused subscription is tried again. */
    const val MAX_PROMPT_DELAY_MS = 1_000L
    const val MAX_RETRY_DELAY_MS = 5_000L

    /** In one `sub` frame. */
    const val MAX_CHANNELS = 50

    /** Channels that are added within so long go in one frame: a socket may send 20 in a second. */
    const val GATHER_MS = 20L

    /** The close code of an expired token. */
    const val EXPIRED = 4202
  }
}
