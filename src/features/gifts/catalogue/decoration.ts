import type { GiftKind, OddsRow } from '../../../../schema/events.ts'
import type { Evolver } from '../../../ledger/rules/evolve.ts'
import { projection } from '../../../ledger/rules/projection.ts'
import type { State } from '../../../ledger/rules/state.ts'
import type { Micros } from '../../../ledger/rules/time.ts'

/** A gift of the catalogue. */
export interface Decoration {
  readonly decoration_id: number
  readonly name: string
  readonly kind: GiftKind
  /** Diamonds. */
  readonly price: number
  readonly image_path: string
  /** Empty for gifts without a draw. */
  readonly odds: readonly OddsRow[]
  readonly odds_hash: string | null
  readonly created_at: Micros
}

/** An odds table, current or former. */
export interface OddsTable {
  readonly odds_hash: string
  readonly decoration_id: number
  readonly odds: readonly OddsRow[]
}

export const decorations = projection<Decoration>('decorations')
export const oddsTables = projection<OddsTable>('odds_tables')

/** Gifts of the catalogue. Limited because it is answered without paging. */
export const MAX_DECORATIONS = 500

/** How many gifts the catalogue holds: a single row. */
export interface CatalogueCount {
  readonly catalogue: string
  readonly decorations: number
}

export const catalogueCounts = projection<CatalogueCount>('catalogue_counts')
export const CATALOGUE = 'decorations'

export const decorationCount = (state: State): number => state.get(catalogueCounts, CATALOGUE)?.decorations ?? 0

export const evolveDecorations: Evolver = {
  'decoration-defined': (state, { data, at }) => {
    const { decoration_id, odds_hash, odds } = data
    const before = state.get(decorations, String(decoration_id))
    state.set(decorations, String(decoration_id), { ...data, created_at: before?.created_at ?? at })
    if (before === undefined) {
      state.set(catalogueCounts, CATALOGUE, { catalogue: CATALOGUE, decorations: decorationCount(state) + 1 })
    }
    if (odds_hash !== null) state.set(oddsTables, odds_hash, { odds_hash, decoration_id, odds })
  },
}
