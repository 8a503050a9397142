import type { ClientType, InBoth } from '../../../schema/events.ts'
import type { Evolver } from '../../ledger/rules/evolve.ts'
import { projection } from '../../ledger/rules/projection.ts'
import type { Micros } from '../../ledger/rules/time.ts'

/** The key of the only mode. */
export const MODE_SCOPE = 'all'

/** Whether the service is in maintenance, and whether unidentified clients are refused. */
export interface Mode {
  readonly scope: typeof MODE_SCOPE
  readonly maintenance: boolean
  readonly title: InBoth
  readonly message: InBoth
  /** Unidentified clients must update to the release of this client type; null lets them pass. */
  readonly block_unidentified: ClientType | null
  readonly updated_at: Micros
}

export const modes = projection<Mode>('app_modes')

/** The mode until one was set. */
export const defaultMode: Omit<Mode, 'scope' | 'updated_at'> = {
  maintenance: false,
  title: { en: 'Maintenance', ar: 'صيانة' },
  message: { en: 'We will be back soon.', ar: 'سنعود قريبًا.' },
  block_unidentified: null,
}

export const evolveModes: Evolver = {
  'app-mode-set': (state, { data, at }) => state.set(modes, MODE_SCOPE, { scope: MODE_SCOPE, ...data, updated_at: at }),
}
