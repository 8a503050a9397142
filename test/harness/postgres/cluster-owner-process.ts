import { openEmbedded } from '../../../src/db/cluster/embedded.ts'

// Stands in for the service in a process of its own, to be killed: keeps the data directory that it is given.
const embedded = await openEmbedded(process.argv[2] ?? '')
process.once('SIGTERM', () => {
  void embedded.stop()
})
console.log(embedded.serviceUrl)
