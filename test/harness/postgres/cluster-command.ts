import { removeTestCluster, startTestCluster } from './test-cluster.ts'

const [command, owner] = process.argv.slice(2)
if (command === 'start') await startTestCluster(Number(owner))
else await removeTestCluster(Number(owner))
