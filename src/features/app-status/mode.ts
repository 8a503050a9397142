import type { ClientType } from '../../../schema/events.ts'
import type { LocalizedText } from '../../../schema/languages.ts'
import type { Evolver } from '../../ledger/rules/event.ts'
import { boolean, json, micros, nullable, projection, type RowOf, text } from '../../ledger/rules/projection.ts'
import { versionOfValues } from '../../ledger/rules/stored-values.ts'

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
