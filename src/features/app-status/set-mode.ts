import type { AppMode } from '../../../schema/app-status.ts'
import type { ClientType, EventData } from '../../../schema/events.ts'
import { keyOf } from '../../ledger/rules/projection.ts'
import type { Verb } from '../../ledger/rules/verb.ts'
import { ALL, modes, openMode } from './mode.ts'
import { modeRecord } from './presenters.ts'
import { changed, type SomeWords } from './texts.ts'

/** What is left out keeps its value. */
export interface SetMode {
  readonly maintenance?: boolean | undefined
  readonly title?: SomeWords | undefined
  readonly message?: SomeWords | undefined
  readonly block_unidentified?: ClientType | null | undefined
}

/** Switches the mode of the app; what is so already is no new fact. */
export const setMode: Verb<SetMode, AppMode> = {
  reads: () => [keyOf(modes, ALL)],

  decide(state, input) {
    const before = state.get(modes, ALL)
    const { maintenance, title, message, block_unidentified } = before ?? openMode
    const data = {
      maintenance: input.maintenance ?? maintenance,
      title: changed(title, input.title),
      message: changed(message, input.message),
      block_unidentified: input.block_unidentified === undefined ? block_unidentified : input.block_unidentified,
    }
    if (before !== undefined && meaning(before) === meaning(data)) return []
    return [{ type: 'app-mode-set', data, movements: [] }]
  },

  result: (state) => modeRecord(state.get(modes, ALL)),
}

/** All that a mode says, as text. */
const meaning = ({ maintenance, title, message, block_unidentified }: EventData<'app-mode-set'>): string =>
  JSON.stringify([maintenance, title.en, title.ar, message.en, message.ar, block_unidentified])
