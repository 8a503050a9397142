/** Resumes of one user that are worked on at a time. */
const MAX_CONCURRENT = 2
/** What a user may use at once: 50 rooms with a backlog of 1,000 entries each that have to be read from the database. */
const BUDGET_CAPACITY = 2_500
const REFILL_PER_SECOND = 100
/** What a resume costs by itself, for each query, and for so many entries that are replayed; a long one counts as more. */
const BASE_COST = 1
const QUERY_COST = 20
const MESSAGES_PER_COST = 50
const CHARACTERS_PER_MESSAGE = 1_000
/** The next resume waits for so long for each entry: replaying 1,000 of them takes the event loop some milliseconds. */
const PAUSE_PER_MESSAGE_MS = 0.4

interface UserBudget {
  tokens: number
  /** As `performance.now()` tells it. */
  refilledAt: number
  running: number
  readonly waiting: (() => void)[]
  timer: NodeJS.Timeout | undefined
}

/** What a resume took. */
export interface ResumeUsage {
  readonly queries: number
  /** Entries that were replayed, and their characters. */
  readonly messages: number
  readonly characters: number
}

/** Entries of ordinary length that come to as much. */
const weightOf = ({ messages: entries, characters }: ResumeUsage): number =>
  Math.max(entries, characters / CHARACTERS_PER_MESSAGE)

const costOf = (resumed: ResumeUsage): number =>
  BASE_COST + resumed.queries * QUERY_COST + weightOf(resumed) / MESSAGES_PER_COST

/** What each user may have replayed: beyond it their resumes wait, and nobody else's do. */
export class ResumeBudget {
  readonly #accounts = new Map<number, UserBudget>()

  /** Runs `resume` when it is the user's turn and something of the budget is left. */
  async run(userId: number, resume: () => Promise<ResumeUsage>): Promise<void> {
    const account = this.#accountOf(userId)
    await new Promise<void>((begin) => {
      account.waiting.push(begin)
      this.#beginNext(account)
    })
    let resumed: ResumeUsage = { queries: 1, messages: 0, characters: 0 }
    try {
      resumed = await resume()
    } finally {
      account.tokens -= costOf(resumed)
      const end = (): void => {
        account.running -= 1
        this.#beginNext(account)
      }
      if (resumed.messages === 0) end()
      else setTimeout(end, weightOf(resumed) * PAUSE_PER_MESSAGE_MS)
    }
  }

  /** Gives memory back. To be called now and then. */
  sweep(): void {
    for (const [userId, account] of this.#accounts) {
      refill(account)
      const isIdle = account.running === 0 && account.waiting.length === 0
      if (isIdle && account.tokens >= BUDGET_CAPACITY) this.#accounts.delete(userId)
    }
  }

  #accountOf(userId: number): UserBudget {
    let account = this.#accounts.get(userId)
    if (account === undefined) {
      account = { tokens: BUDGET_CAPACITY, refilledAt: performance.now(), running: 0, waiting: [], timer: undefined }
      this.#accounts.set(userId, account)
    }
    return account
  }

  #beginNext(account: UserBudget): void {
    refill(account)
    while (account.running < MAX_CONCURRENT && account.tokens > 0) {
      const begin = account.waiting.shift()
      if (begin === undefined) return
      account.running += 1
      begin()
    }
    if (account.waiting.length === 0 || account.tokens > 0) return
    account.timer ??= setTimeout(
      () => {
        account.timer = undefined
        this.#beginNext(account)
      },
      (-account.tokens / REFILL_PER_SECOND) * 1000 + 1,
    )
  }
}

function refill(account: UserBudget): void {
  const now = performance.now()
  account.tokens = Math.min(BUDGET_CAPACITY, account.tokens + ((now - account.refilledAt) / 1000) * REFILL_PER_SECOND)
  account.refilledAt = now
}
