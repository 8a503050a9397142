import type { ClientType } from '../../../schema/events.ts'
import type { LocalizedText } from '../../../schema/languages.ts'
import type { Evolver } from '../../ledger/rules/event.ts'
import { boolean, json, keyOf, micros, nullable, projection, type RowOf, text } from '../../ledger/rules/projection.ts'
import { type ExpectedVersion, hasValues, isExpected, versionOfValues } from '../../ledger/rules/stored-values.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'

/** The key of the only mode. */
export const MODE_SCOPE = 'all'

/** Whether the service is in maintenance, and whether unidentified clients are refused. */
export const modes = projection('app_modes', {
  scope: text<typeof MODE_SCOPE>(),
  maintenance: boolean(),
  title: json<LocalizedText>(),
  message: json<LocalizedText>(),
  /** Unidentified clients must update to the release of this client type; null lets them pass. */
  block_unidentified: nullable(text<ClientType>()),
  updated_at: micros(),
})

export type Mode = RowOf<typeof modes>

/** The mode until one was set. */
export const defaultMode: Omit<Mode, 'scope' | 'updated_at'> = {
  maintenance: false,
  title: { en: 'Maintenance', ar: 'صيانة' },
  message: { en: 'We will be back soon.', ar: 'سنعود قريبًا.' },
  block_unidentified: null,
}

/** The version of what setting the mode sets. */
export const modeVersion = ({ maintenance, title, message, block_unidentified }: typeof defaultMode): string =>
  versionOfValues({ maintenance, title, message, block_unidentified })

export const evolveModes: Evolver = {
  'app-mode-set': (state, { data, at }) => state.set(modes, MODE_SCOPE, { scope: MODE_SCOPE, ...data, updated_at: at }),
}

/** Omitted fields keep their values. */
interface SetMode {
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

/** A text in some of the languages. */
export interface PartialTexts {
  readonly en?: string | undefined
  readonly ar?: string | undefined
}

/** Omitted languages keep their texts. */
export const mergeTexts = (
  before: LocalizedText,
  { en = before.en, ar = before.ar }: PartialTexts = {},
): LocalizedText => ({
  en,
  ar,
})
