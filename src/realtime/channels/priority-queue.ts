/** Items that leave in the order of their time, the earliest first: a binary heap. */
export class PriorityQueue<Item extends { readonly dueAt: number }> {
  /** None is due before its parent, which is at half its place, rounded down; the first is at place 1. */
  readonly #items: Item[] = []

  push(item: Item): void {
    let place = this.#items.push(item)
    for (; place > 1; place = Math.floor(place / 2)) {
      const parent = this.#at(Math.floor(place / 2))
      if (parent === undefined || parent.dueAt <= item.dueAt) break
      this.#items[place - 1] = parent
    }
    this.#items[place - 1] = item
  }

  /** Takes the earliest item; undefined when there is none. */
  pop(): Item | undefined {
    const earliest = this.#at(1)
    const moved = this.#items.pop()
    if (moved === undefined || this.#items.length === 0) return earliest
    let place = 1
    for (;;) {
      const left = this.#at(2 * place)
      const right = this.#at(2 * place + 1)
      if (left === undefined) break
      const isRight = right !== undefined && right.dueAt < left.dueAt
      const child = isRight ? right : left
      if (moved.dueAt <= child.dueAt) break
      this.#items[place - 1] = child
      place = 2 * place + (isRight ? 1 : 0)
    }
    this.#items[place - 1] = moved
    return earliest
  }

  #at(place: number): Item | undefined {
    return this.#items[place - 1]
  }
}
