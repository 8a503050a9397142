import { AppStatusGate } from '../../../src/features/app-status/app-status.ts'
import type { CachedClient } from '../../../src/features/app-status/clients/client-registry.ts'
import { type AppState, alwaysOpen } from '../../../src/http/auth/gate.ts'

/** The client of every token here. */
const knownClient: CachedClient = { client: { type: 'android', version: '2.4.1' }, at: 0 }

const emptyText = { en: '', ar: '' }
const release = { client_type: 'android', version: '2.5', minimum_version: '2.0', store_link: '' } as const

/** Open to all; each SIGUSR2 turns a gate on or off that has to look up the client of every request by its token. */
export function switchedAppState(): AppState {
  const gated = minimumVersionGate()
  let gate = alwaysOpen.gate
  process.on('SIGUSR2', () => (gate = gate === alwaysOpen.gate ? gated.gate : alwaysOpen.gate))
  return { ...alwaysOpen, gate: (request, isOurs) => gate(request, isOurs) }
}

function minimumVersionGate(): AppState {
  const clients = new Map<string, CachedClient>()
  return new AppStatusGate(
    { position: 0, mode: null, releases: [{ ...release, title: emptyText, message: emptyText }] },
    {
      get: (key) => clients.get(key),
      load: async (key) => void clients.set(key, knownClient),
      record: () => {},
    },
  )
}
