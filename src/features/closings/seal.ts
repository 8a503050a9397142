import type { EventData } from '../../../schema/events.ts'
import type { Evolver } from '../../ledger/rules/event.ts'
import { integer, keyOf, micros, projection, type RowOf } from '../../ledger/rules/projection.ts'
import type { Verb } from '../../ledger/rules/verb.ts'

/** Positions from which a replay can begin, as there are snapshots of all rows that follow from the events up to there. */
export const seals = projection('seals', {
  position: integer(),
  /** The position of its event, which says what is in the snapshot. */
  seal_id: integer(),
  sealed_at: micros(),
})

export type Seal = RowOf<typeof seals>

export const evolveSeals: Evolver = {
  'ledger-sealed': (state, { data: { position, checkpoint }, position: seal_id, at }) => {
    if (position >= seal_id || checkpoint.position !== position)
      throw new Error(`position ${position} cannot be sealed here, with the checkpoint of ${checkpoint.position}`)
    state.set(seals, String(position), { position, seal_id, sealed_at: at })
  },
}

/** Records that a snapshot was made. Nothing of the input comes from a client. */
export const recordSeal: Verb<EventData<'ledger-sealed'>, Seal> = {
  refusals: [],
  reads: ({ position }) => [keyOf(seals, position)],
  decide: (_state, data) => [{ type: 'ledger-sealed', data, movements: [] }],
  result(state, { position }) {
    const seal = state.get(seals, String(position))
    if (seal === undefined) throw new Error(`position ${position} was not sealed`)
    return seal
  },
}
