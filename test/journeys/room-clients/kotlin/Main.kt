import androidx.lifecycle.ProcessLifecycleOwner
import org.json.JSONObject

/** Debian has OkHttp 3, in which this is a function; with OkHttp 4 and 5 it is a property. */
val okhttp3.Response.code: Int get() = code()

private fun print(channel: String, what: String, data: Any? = null) =
  println(if (data == null) "$channel $what" else "$channel $what $data")

private object Printer : RoomClient.Listener {
  override fun onEvent(frame: JSONObject) = print(frame.getString("ch"), frame.getString("event"), frame.get("data"))
  override fun onState(channel: String, state: JSONObject) = print(channel, "state", state)
  override fun onReload(channel: String) = print(channel, "reload")
  override fun onRefused(frame: JSONObject) = print(frame.getString("ch"), frame.getString("code"))
  override fun onStopped(code: Int) = print("", "stopped", JSONObject().put("code", code))
}

/** Arguments: the address and rooms. `hide`, `show` and `join` with further rooms come on standard input. */
fun main(args: Array<String>) {
  val client = RoomClient(args[0], { isExpired -> if (isExpired) "second" else System.getenv("TOKEN") }, Printer)
  observe(client)
  for (room in args.drop(1)) client.subscribe("one-to-room:$room")
  ProcessLifecycleOwner.show()
  for (line in generateSequence(::readlnOrNull)) {
    val words = line.split(" ")
    when (words.first()) {
      "show" -> ProcessLifecycleOwner.show()
      "hide" -> ProcessLifecycleOwner.hide()
      else -> for (room in words.drop(1)) client.subscribe("one-to-room:$room")
    }
    print("", words.first())
  }
}
