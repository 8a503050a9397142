import { runBench } from '../bench.ts'
import { measureBigRoom } from './big-room.ts'
import { measureFanOut } from './fan-out.ts'
import { measureStorm } from './storm.ts'

await runBench('npm run bench:live', { 'fan-out': measureFanOut, 'big-room': measureBigRoom, storm: measureStorm })
