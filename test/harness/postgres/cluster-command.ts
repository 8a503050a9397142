import { removeTestCluster, startTestCluster } from './test-cluster.ts'

const [command, holder] = process.argv.slice(2)
if (command === 'start') await startTestCluster(Number(holder))
else await removeTestCluster(Number(holder))
