import type { GiftKind, OddsRow } from '../../../schema/events.ts'
import { storedName } from '../../language/names.ts'
import type { Evolver } from '../../ledger/rules/event.ts'
import {
  integer,
  json,
  micros,
  nullable,
  projection,
  type RowOf,
  type State,
  text,
} from '../../ledger/rules/projection.ts'
import { versionOfValues } from '../../ledger/rules/stored-values.ts'

/** A gift of the catalogue. */
export const decorations = projection('decorations', {
  decoration_id: integer(),
  name: text(),
  name_ar: nullable(text()),
  kind: text<GiftKind>(),
  /** Diamonds. */
  price: integer(),
  image_path: text(),
  video_path: nullable(text()),
  /** Empty for gifts without a draw. */
  odds: json<readonly OddsRow[]>(),
  odds_hash: nullable(text()),
  created_at: micros(),
})

export type Decoration = RowOf<typeof decorations>

/** The version of what defining a gift sets. */
export const decorationVersion = ({ name, name_ar, kind, price, image_path, video_path, odds }: Decoration): string =>
  versionOfValues({ name, name_ar, kind, price, image_path, video_path, odds })

/** An odds table, current or former. */
export const oddsTables = projection('odds_tables', {
  odds_hash: text(),
  decoration_id: integer(),
  odds: json<readonly OddsRow[]>(),
})

/** Gifts of the catalogue. Limited because it is answered without paging. */
export const MAX_DECORATIONS = 500

/** How many gifts the catalogue has: a single row. */
export const catalogueCounts = projection('catalogue_counts', {
  catalogue: text(),
  decorations: integer(),
})

export const CATALOGUE = 'decorations'

export const decorationCount = (state: State): number => state.get(catalogueCounts, CATALOGUE)?.decorations ?? 0

export const evolveDecorations: Evolver = {
  'decoration-defined': (state, { data: { approval: _approval, ...data }, at }) => {
    const { decoration_id, odds_hash, odds } = data
    const before = state.get(decorations, String(decoration_id))
    state.set(decorations, String(decoration_id), {
      ...data,
      ...storedName(data.name),
      created_at: before?.created_at ?? at,
    })
    if (before === undefined) {
      state.set(catalogueCounts, CATALOGUE, { catalogue: CATALOGUE, decorations: decorationCount(state) + 1 })
    }
    if (odds_hash !== null) state.set(oddsTables, odds_hash, { odds_hash, decoration_id, odds })
  },
}

/** Who receives a share of a gift's value, in per cent. */
interface Shares {
  /** A share of each order, to the receiver's target balance. */
  readonly receiver: number
  /** A share of the whole send, to the room's target balance. */
  readonly room: number
  /** A share of the whole send, to the room owner's target balance; not on the owner's own sends. */
  readonly owner: number
  /** Whether the room gets one trophy point per diamond. */
  readonly trophies: boolean
}

/** Shares by kind of gift; returnable gifts are treated like lucky ones. `ownerPercent` is the current commission. */
export function sharesOf(kind: GiftKind, ownerPercent: number): Shares {
  return kind === 'standard'
    ? { receiver: 100, room: 3, owner: ownerPercent, trophies: true }
    : { receiver: 10, room: 0, owner: 0, trophies: false }
}
