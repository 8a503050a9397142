/** Enough for 50 rooms at once, each with a backlog of 1,000 messages that is read from the database. */
const BUDGET_CAPACITY = 2_500
const REFILL_PER_SECOND = 100
/** The cost of a frame, for the queries that its channels share; of each channel; and of messages read and sent. */
const FRAME_COST = 20
const CHANNEL_COST = 1
const MESSAGES_PER_COST = 50
/** What is reserved for a channel: the most that it costs, apart from messages that are longer than most. */
const RESERVED_COST = CHANNEL_COST + 2 * (1_000 / MESSAGES_PER_COST)

interface UserBudget {
  tokens: number
  /** By `performance.now()`. */
  refilledAt: number
  /** Channels that are being answered. */
  running: number
  readonly waiting: (() => void)[]
  timer: NodeJS.Timeout | undefined
}

/** What the answer to one channel may use. */
export class Reservation {
  /** Messages that were read from the database or will be sent; a long one counts as several. */
  messages = 0
  readonly #settle: (messages: number) => void
  #isSettled = false

  constructor(settle: (messages: number) => void) {
    this.#settle = settle
  }

  /** Gives back what was not used; once is enough. */
  settle(): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#settle(this.messages)
  }
}

/** For answers that nobody counts. */
export const unlimited = (): Reservation => new Reservation(() => {})

/** A token bucket for each user's resumes: a user beyond it waits, other users do not. */
export class ResumeBudget {
  readonly #budgets = new Map<number, UserBudget>()

  /** Waits until the user has budget left, and reserves the most that a frame for so many channels costs. */
  async reserve(userId: number, channels: number): Promise<readonly Reservation[]> {
    const budget = this.#budgetOf(userId)
    await new Promise<void>((start) => {
      budget.waiting.push(() => {
        budget.tokens -= FRAME_COST + channels * RESERVED_COST
        budget.running += channels
        start()
      })
      this.#startNext(budget)
    })
    const settle = (messages: number): void => {
      budget.tokens += RESERVED_COST - CHANNEL_COST - messages / MESSAGES_PER_COST
      budget.running -= 1
      this.#startNext(budget)
    }
    return Array.from({ length: channels }, () => new Reservation(settle))
  }

  /** Channels that are being answered, and frames that wait. */
  get counts(): { readonly running: number; readonly waiting: number } {
    let [running, waiting] = [0, 0]
    for (const budget of this.#budgets.values()) {
      running += budget.running
      waiting += budget.waiting.length
    }
    return { running, waiting }
  }

  /** Drops the budgets of users who have not resumed for a while. Called regularly. */
  sweep(): void {
    for (const [userId, budget] of this.#budgets) {
      refill(budget)
      const isIdle = budget.running === 0 && budget.waiting.length === 0
      if (isIdle && budget.tokens >= BUDGET_CAPACITY) this.#budgets.delete(userId)
    }
  }

  #budgetOf(userId: number): UserBudget {
    let budget = this.#budgets.get(userId)
    if (budget === undefined) {
      budget = { tokens: BUDGET_CAPACITY, refilledAt: performance.now(), running: 0, waiting: [], timer: undefined }
      this.#budgets.set(userId, budget)
    }
    return budget
  }

  #startNext(budget: UserBudget): void {
    refill(budget)
    while (budget.tokens > 0) {
      const start = budget.waiting.shift()
      if (start === undefined) return
      start()
    }
    // Set again each time: what was reserved may have been given back.
    clearTimeout(budget.timer)
    if (budget.waiting.length === 0) return
    budget.timer = setTimeout(() => this.#startNext(budget), (-budget.tokens / REFILL_PER_SECOND) * 1000 + 1)
  }
}

function refill(budget: UserBudget): void {
  const now = performance.now()
  budget.tokens = Math.min(BUDGET_CAPACITY, budget.tokens + ((now - budget.refilledAt) / 1000) * REFILL_PER_SECOND)
  budget.refilledAt = now
}
