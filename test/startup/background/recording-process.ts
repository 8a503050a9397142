import { Type } from '@sinclair/typebox'
import { pino } from 'pino'
import { openPool } from '../../../src/db/pool.ts'
import { startRecordingFormerMembers } from '../../../src/startup/background/former-members.ts'
import { createTestExecutor } from '../../harness/ledger/test-executor.ts'
import { serve } from '../../harness/process/child-process-rpc.ts'

/** An instance that records former members and hangs after its first command, until it is killed. */
serve(Type.Object({ url: Type.String() }), async ({ url }) => {
  const log = pino({ level: 'silent' })
  const { executor } = createTestExecutor({ teardown: () => {} }, url)
  const recorded = Promise.withResolvers<null>()
  const hanging: Pick<typeof executor, 'run'> = {
    run: async (command) => {
      await executor.run(command)
      recorded.resolve(null)
      return new Promise<never>(() => {})
    },
  }
  const subscriberPool = openPool(url, { max: 1, application_name: 'recording under test' }, log)
  startRecordingFormerMembers(hanging, { url, subscriberPool }, log, new AsyncDisposableStack(), [0])
  return recorded.promise
})
