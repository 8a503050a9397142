/** What the client uses of Android's androidx.lifecycle. */
package androidx.lifecycle

interface LifecycleOwner {
  val lifecycle: Lifecycle
}

interface DefaultLifecycleObserver {
  fun onStart(owner: LifecycleOwner) {}
  fun onStop(owner: LifecycleOwner) {}
}

class Lifecycle {
  val observers = mutableListOf<DefaultLifecycleObserver>()

  fun addObserver(observer: DefaultLifecycleObserver) {
    observers += observer
  }
}

object ProcessLifecycleOwner : LifecycleOwner {
  override val lifecycle = Lifecycle()

  fun get(): LifecycleOwner = this
  fun show() = lifecycle.observers.forEach { it.onStart(this) }
  fun hide() = lifecycle.observers.forEach { it.onStop(this) }
}
