import { runApart } from './run-apart.ts'

runApart('remove')
