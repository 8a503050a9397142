import { runDetached } from './detached-runner.ts'

// tap runs this before the first test file and `after.ts` after the last; all are children of its own process.
runDetached('start')
