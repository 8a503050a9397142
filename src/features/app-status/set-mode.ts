import type { ClientType } from '../../../schema/events.ts'
import { hasValues } from '../../ledger/rules/has-values.ts'
import { keyOf } from '../../ledger/rules/projection.ts'
import type { Verb } from '../../ledger/rules/verb.ts'
import { defaultMode, MODE_SCOPE, type Mode, modes } from './mode.ts'
import { mergeTexts, type PartialTexts } from './texts.ts'

/** Omitted fields keep their values. */
export interface SetMode {
  readonly maintenance?: boolean | undefined
  readonly title?: PartialTexts | undefined
  readonly message?: PartialTexts | undefined
  readonly block_unidentified?: ClientType | null | undefined
}

/** Changes the mode of the app; an identical mode writes no event. Never refused. */
export const setMode: Verb<SetMode, Mode | undefined> = {
  refusals: [],
  reads: () => [keyOf(modes, MODE_SCOPE)],

  decide(state, input) {
    const before = state.get(modes, MODE_SCOPE)
    const { maintenance, title, message, block_unidentified } = before ?? defaultMode
    const data = {
      maintenance: input.maintenance ?? maintenance,
      title: mergeTexts(title, input.title),
      message: mergeTexts(message, input.message),
      block_unidentified: input.block_unidentified === undefined ? block_unidentified : input.block_unidentified,
    }
    if (before !== undefined && hasValues(before, data)) return []
    return [{ type: 'app-mode-set', data, movements: [] }]
  },

  result: (state) => state.get(modes, MODE_SCOPE),
}
