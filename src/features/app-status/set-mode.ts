import type { ClientType } from '../../../schema/events.ts'
import { keyOf } from '../../ledger/rules/projection.ts'
import { type ExpectedVersion, hasValues, isExpected } from '../../ledger/rules/stored-values.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { defaultMode, MODE_SCOPE, type Mode, modes, modeVersion } from './mode.ts'
import { mergeTexts, type PartialTexts } from './texts.ts'

/** Omitted fields keep their values. */
export interface SetMode {
  readonly maintenance?: boolean | undefined
  readonly title?: PartialTexts | undefined
  readonly message?: PartialTexts | undefined
  readonly block_unidentified?: ClientType | null | undefined
  readonly expected?: ExpectedVersion | undefined
}

const refusals = ['precondition_failed'] as const

/** Changes the mode of the app; an identical mode writes no event. Refusal: `precondition_failed` (another one is set). */
export const setMode: Verb<SetMode, Mode | undefined, typeof refusals> = {
  refusals,
  reads: () => [keyOf(modes, MODE_SCOPE)],

  decide(state, input) {
    const before = state.get(modes, MODE_SCOPE)
    const current = before ?? defaultMode
    if (!isExpected(input.expected, current, modeVersion)) return refuse('precondition_failed')
    const { maintenance, title, message, block_unidentified } = current
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
