import { openEmbedded } from '../../../src/db/cluster/embedded.ts'

// A process that owns a data directory as the service would, and can be killed.
const embedded = await openEmbedded(process.argv[2] ?? '')
process.once('SIGTERM', () => {
  void embedded.stop()
})
console.log(embedded.serviceUrl)
