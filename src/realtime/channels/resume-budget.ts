/** Resumes of one user that are worked on at a time. */
const MAX_CONCURRENT = 2
/** What a user may use at once: 50 rooms with a backlog of 1,000 entries each that have to be read from the database. */
const CAPACITY = 2_500
const REFILL_PER_SECOND = 100
/** What a resume costs by itself, for each query, and for so many entries that are replayed; a long one counts as more. */
const COST = 1
const QUERY_COST = 20
const ENTRIES_PER_COST = 50
const CHARACTERS_PER_ENTRY = 1_000
/** The next resume waits for so long for each entry: replaying 1,000 of them takes the event loop some milliseconds. */
const PAUSE_MS_PER_ENTRY = 0.4

interface Account {
  tokens: number
  /** As `performance.now()` tells it. */
  refilledAt: number
  running: number
  readonly waiting: (() => void)[]
  timer: NodeJS.Timeout | undefined
}

/** What a resume took. */
export interface Resumed {
  readonly queries: number
  /** Entries that were replayed, and their characters. */
  readonly entries: number
  readonly characters: number
}

/** Entries of ordinary length that come to as much. */
const weightOf = ({ entries, characters }: Resumed): number => Math.max(entries, characters / CHARACTERS_PER_ENTRY)

const costOf = (resumed: Resumed): number => COST + resumed.queries * QUERY_COST + weightOf(resumed) / ENTRIES_PER_COST

/** What each user may have replayed: beyond it their resumes wait, and nobody else's do. */
export class ResumeBudget {
  readonly #accounts = new Map<number, Account>()

  /** Runs `resume` when it is the user's turn and something of the budget is left. */
  async run(userId: number, resume: () => Promise<Resumed>): Promise<void> {
    const account = this.#accountOf(userId)
    await new Promise<void>((begin) => {
      account.waiting.push(begin)
      this.#beginNext(account)
    })
    let resumed: Resumed = { queries: 1, entries: 0, characters: 0 }
    try {
      resumed = await resume()
    } finally {
      account.tokens -= costOf(resumed)
      const end = (): void => {
        account.running -= 1
        this.#beginNext(account)
      }
      if (resumed.entries === 0) end()
      else setTimeout(end, weightOf(resumed) * PAUSE_MS_PER_ENTRY)
    }
  }

  /** Gives memory back. To be called now and then. */
  sweep(): void {
    for (const [userId, account] of this.#accounts) {
      refill(account)
      const isIdle = account.running === 0 && account.waiting.length === 0
      if (isIdle && account.tokens >= CAPACITY) this.#accounts.delete(userId)
    }
  }

  #accountOf(userId: number): Account {
    let account = this.#accounts.get(userId)
    if (account === undefined) {
      account = { tokens: CAPACITY, refilledAt: performance.now(), running: 0, waiting: [], timer: undefined }
      this.#accounts.set(userId, account)
    }
    return account
  }

  #beginNext(account: Account): void {
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

function refill(account: Account): void {
  const now = performance.now()
  account.tokens = Math.min(CAPACITY, account.tokens + ((now - account.refilledAt) / 1000) * REFILL_PER_SECOND)
  account.refilledAt = now
}
