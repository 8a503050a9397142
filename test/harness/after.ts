import { runApart } from './detached-runner.ts'

runApart('remove')
