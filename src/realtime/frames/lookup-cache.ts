import type { Kysely } from 'kysely'
import { databaseIsAway } from '../../db/connection-errors.ts'
import { queryByIds } from '../../db/query-batch.ts'
import type { Tables } from '../../db/tables.ts'
import type { Lookups, Wanted, Words } from './announcer.ts'

/** Words may be so old: names change seldom, and a change is to be seen soon. */
const FRESH_MS = 1_000
/** Words that are remembered of a kind; beyond, all are looked up again. */
const MOST_KNOWN = 10_000

type LookUp<Word> = (ids: readonly number[]) => Promise<ReadonlyMap<number, Word>>

/** Words of one kind by their ids. */
class Glossary<Word> {
  readonly #look: LookUp<Word>
  readonly #unreadable: (error: unknown) => void
  readonly #known = new Map<number, { readonly until: number; readonly word: Word | undefined }>()

  /** `unreadable` hears of ids that cannot be looked up: they are missing, and nothing else is. */
  constructor(look: LookUp<Word>, unreadable: (error: unknown) => void) {
    this.#look = look
    this.#unreadable = unreadable
  }

  async find(ids: ReadonlySet<number>): Promise<ReadonlyMap<number, Word>> {
    const now = performance.now()
    const words = new Map<number, Word>()
    const unknown: number[] = []
    for (const id of ids) {
      const known = this.#known.get(id)
      if (known === undefined || known.until < now) unknown.push(id)
      else if (known.word !== undefined) words.set(id, known.word)
    }
    if (unknown.length === 0) return words
    const { found, failed } = await queryByIds(unknown, this.#look)
    for (const error of failed.values()) {
      // All of them come again when it is back.
      if (databaseIsAway(error)) throw error
      this.#unreadable(error)
    }
    if (this.#known.size + unknown.length > MOST_KNOWN) this.#known.clear()
    for (const id of unknown) {
      const word = found.get(id)
      this.#known.set(id, { until: now + FRESH_MS, word })
      if (word !== undefined) words.set(id, word)
    }
    return words
  }
}

/** Looks up what announcements want, all at once, and remembers it for a moment. */
export class WordBook {
  readonly #users: Glossary<WordOf<'users'>>
  readonly #rooms: Glossary<WordOf<'rooms'>>
  readonly #decorations: Glossary<WordOf<'decorations'>>
  readonly #packages: Glossary<WordOf<'packages'>>

  /** `unreadable` hears of what cannot be looked up and is missing therefore. */
  constructor(db: Kysely<Tables>, lookups: Lookups, unreadable: (error: unknown) => void) {
    this.#users = new Glossary((ids) => lookups.users(db, ids), unreadable)
    this.#rooms = new Glossary((ids) => lookups.rooms(db, ids), unreadable)
    this.#decorations = new Glossary((ids) => lookups.decorations(db, ids), unreadable)
    this.#packages = new Glossary((ids) => lookups.packages(db, ids), unreadable)
  }

  async find(wanted: readonly Wanted[]): Promise<Words> {
    const [users, rooms, decorations, packages] = await Promise.all([
      this.#users.find(idsOf(wanted, 'users')),
      this.#rooms.find(idsOf(wanted, 'rooms')),
      this.#decorations.find(idsOf(wanted, 'decorations')),
      this.#packages.find(idsOf(wanted, 'packages')),
    ])
    return { users, rooms, decorations, packages }
  }
}

type WordOf<Kind extends keyof Words> = Words[Kind] extends ReadonlyMap<number, infer Word> ? Word : never

const idsOf = (wanted: readonly Wanted[], kind: keyof Words): ReadonlySet<number> =>
  new Set(wanted.flatMap((wants) => wants[kind] ?? []))
