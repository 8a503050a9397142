/** Resumes of one user that run at the same time. */
const MAX_CONCURRENT = 2
/** Enough for 50 rooms at once, each with a backlog of 1,000 messages that is read from the database. */
const BUDGET_CAPACITY = 2_500
const REFILL_PER_SECOND = 100
/** The cost of resumes: each channel, each query, and the messages read and replayed; a long one counts as several. */
const CHANNEL_COST = 1
const QUERY_COST = 20
const MESSAGES_PER_COST = 50
const CHARACTERS_PER_MESSAGE = 1_000
/** Pause before the user's next resume: replaying 1,000 messages takes the event loop some milliseconds. */
const PAUSE_PER_MESSAGE_MS = 0.4

interface Waiting {
  readonly messages: number
  readonly start: () => void
}

interface UserBudget {
  tokens: number
  /** By `performance.now()`. */
  refilledAt: number
  running: number
  /** Those with the fewest messages first. */
  readonly waiting: Waiting[]
  timer: NodeJS.Timeout | undefined
}

/** What resumes used. */
export interface ResumeUsage {
  readonly channels: number
  readonly queries: number
  /** Messages that were read from the database. */
  readonly readMessages: number
  /** Replayed messages, and their characters. */
  readonly messages: number
  readonly characters: number
}

/** The number of ordinary messages that cost as much. */
const messageCount = ({ messages, characters }: ResumeUsage): number =>
  Math.max(messages, characters / CHARACTERS_PER_MESSAGE)

const costOf = (usage: ResumeUsage): number =>
  usage.channels * CHANNEL_COST +
  usage.queries * QUERY_COST +
  (usage.readMessages + messageCount(usage)) / MESSAGES_PER_COST

/** A token bucket for each user's resumes: a user beyond it waits, other users do not. */
export class ResumeBudget {
  readonly #budgets = new Map<number, UserBudget>()

  /**
   * Runs `resume` when the user has budget left and fewer than the allowed number run. Of those that wait, the one that
   * expects the fewest messages goes first, so that a long replay does not hold short ones.
   */
  async run(userId: number, expectedMessages: number, resume: () => Promise<ResumeUsage>): Promise<void> {
    const budget = this.#budgetOf(userId)
    await new Promise<void>((start) => {
      const place = budget.waiting.findIndex(({ messages }) => messages > expectedMessages)
      budget.waiting.splice(place === -1 ? budget.waiting.length : place, 0, { messages: expectedMessages, start })
      this.#startNext(budget)
    })
    let usage: ResumeUsage = { channels: 1, queries: 1, readMessages: 0, messages: 0, characters: 0 }
    try {
      usage = await resume()
    } finally {
      budget.tokens -= costOf(usage)
      const end = (): void => {
        budget.running -= 1
        this.#startNext(budget)
      }
      if (usage.messages === 0) end()
      // A process that stops does not wait for it.
      else setTimeout(end, messageCount(usage) * PAUSE_PER_MESSAGE_MS).unref()
    }
  }

  /** Resumes in hand. */
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
      const next = budget.waiting.shift()
      if (next === undefined) return
      budget.running += 1
      next.start()
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
