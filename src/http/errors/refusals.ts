import type { Refusal } from '../../ledger/rules/verb.ts'

/** What a refusal's code is over HTTP. */
export interface RefusalMeaning {
  readonly status: 403 | 404 | 422
  readonly message: string
}

/** Refusal codes with their meanings. Codes are stable; messages are for people. */
export type Refusals = Readonly<Record<string, RefusalMeaning>>

export type MeaningOf = (refusal: Refusal) => RefusalMeaning

/** Finds what a code means. Throws when two lists declare the same code. */
export function meaningIn(lists: readonly Refusals[]): MeaningOf {
  const meanings = new Map<string, RefusalMeaning>()
  for (const [code, meaning] of lists.flatMap(Object.entries<RefusalMeaning>)) {
    if (meanings.has(code)) throw new Error(`the refusal ${code} is declared twice`)
    meanings.set(code, meaning)
  }
  return ({ refusal }) => {
    const meaning = meanings.get(refusal)
    if (meaning === undefined) throw new Error(`the refusal ${refusal} is declared by no model`)
    return meaning
  }
}
