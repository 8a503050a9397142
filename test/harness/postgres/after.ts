import { runDetached } from './detached-runner.ts'

runDetached('remove')
