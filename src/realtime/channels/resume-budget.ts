/** Frames of one user that are answered at the same time. */
const MAX_CONCURRENT = 2
/** Enough for 50 rooms at once, each with a backlog of 1,000 messages that is read from the database. */
const BUDGET_CAPACITY = 2_500
const REFILL_PER_SECOND = 100
/** The cost of a frame: each channel, the queries that its channels share, and messages that are read and replayed. */
const CHANNEL_COST = 1
const QUERY_COST = 20
const MESSAGES_PER_COST = 50

interface UserBudget {
  tokens: number
  /** By `performance.now()`. */
  refilledAt: number
  running: number
  readonly waiting: (() => void)[]
  timer: NodeJS.Timeout | undefined
}

/** What the answers to a frame used so far. */
export interface ResumeUsage {
  /** Whether the database was asked. */
  hasQueried: boolean
  /** Messages that were read from the database or replayed; a long one counts as several. */
  messages: number
}

/** A token bucket for each user's resumes: a user beyond it waits, other users do not. */
export class ResumeBudget {
  readonly #budgets = new Map<number, UserBudget>()

  /** Answers a frame for this number of channels when the user has budget left; `answer` counts what it uses. */
  async run(userId: number, channels: number, answer: (usage: ResumeUsage) => Promise<unknown>): Promise<void> {
    const budget = this.#budgetOf(userId)
    await new Promise<void>((start) => {
      budget.waiting.push(start)
      this.#startNext(budget)
    })
    const usage: ResumeUsage = { hasQueried: false, messages: 0 }
    try {
      await answer(usage)
    } finally {
      const queryCost = usage.hasQueried ? QUERY_COST : 0
      budget.tokens -= channels * CHANNEL_COST + queryCost + usage.messages / MESSAGES_PER_COST
      budget.running -= 1
      this.#startNext(budget)
    }
  }

  /** Frames in hand. */
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
    while (budget.running < MAX_CONCURRENT && budget.tokens > 0) {
      const start = budget.waiting.shift()
      if (start === undefined) return
      budget.running += 1
      start()
    }
    if (budget.waiting.length === 0 || budget.tokens > 0) return
    budget.timer ??= setTimeout(
      () => {
        budget.timer = undefined
        this.#startNext(budget)
      },
      (-budget.tokens / REFILL_PER_SECOND) * 1000 + 1,
    )
  }
}

function refill(budget: UserBudget): void {
  const now = performance.now()
  budget.tokens = Math.min(BUDGET_CAPACITY, budget.tokens + ((now - budget.refilledAt) / 1000) * REFILL_PER_SECOND)
  budget.refilledAt = now
}
