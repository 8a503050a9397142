import { runDetached } from './detached-runner.ts'

// tap runs this before the first test file and `after.ts` after the last one; all are child processes of tap.
runDetached('start')
