import { queryBatch } from '../db/query-batch.ts'

interface Asked<Question, Answer> {
  readonly question: Question
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/**
 * Asks for many at once: who comes while an answer is awaited goes with the next question. A question that cannot be
 * answered fails alone.
 */
export class Batches<Question, Answer> {
  readonly #most: number
  readonly #ask: (questions: readonly Question[]) => Promise<readonly Answer[]>
  readonly #queue: Asked<Question, Answer>[] = []
  #asking = false

  /** `ask` answers at most `most` questions at a time, in their order; some may be the same. */
  constructor(most: number, ask: (questions: readonly Question[]) => Promise<readonly Answer[]>) {
    this.#most = most
    this.#ask = ask
  }

  ask(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ question, resolve, reject })
      if (!this.#asking) void this.#work()
    })
  }

  async #work(): Promise<void> {
    this.#asking = true
    while (this.#queue.length > 0) {
      const asked = this.#queue.splice(0, this.#most)
      const answers = await queryBatch(
        asked.map(({ question }) => question),
        this.#ask,
      )
      for (const [i, { resolve, reject }] of asked.entries()) {
        const answer = answers[i]
        if (answer?.status === 'fulfilled') resolve(answer.value)
        else reject(answer?.reason)
      }
    }
    this.#asking = false
  }
}
