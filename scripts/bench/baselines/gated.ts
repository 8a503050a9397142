import { AppStatusGate } from '../../../src/features/app-status/app-status.ts'
import type { CachedClient } from '../../../src/features/app-status/clients/client-registry.ts'
import { type AppState, alwaysOpen } from '../../../src/http/auth/gate.ts'

/** What every token is known for here. */
const knownClient: CachedClient = { client: { type: 'android', version: '2.4.1' }, at: 0 }

const words = { en: '', ar: '' }
const release = { client_type: 'android', version: '2.5', minimum_version: '2.0', store_link: '' } as const

/** Open to all; each SIGUSR2 puts in a gate that has to judge every request by its token, or takes it out again. */
export function switchedAppState(): AppState {
  const gated = minimumVersionGate()
  let gate = alwaysOpen.gate
  process.on('SIGUSR2', () => (gate = gate === alwaysOpen.gate ? gated.gate : alwaysOpen.gate))
  return { ...alwaysOpen, gate: (request, isOurs) => gate(request, isOurs) }
}

function minimumVersionGate(): AppState {
  const known = new Map<string, CachedClient>()
  return new AppStatusGate(
    { position: 0, mode: null, releases: [{ ...release, title: words, message: words }] },
    {
      get: (key) => known.get(key),
      load: async (key) => void known.set(key, knownClient),
      record: () => {},
    },
  )
}
