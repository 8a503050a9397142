// Loaded into the service by --import, in whichever checkout: on SIGUSR2 it collects garbage and prints its memory.

process.on('SIGUSR2', () => {
  globalThis.gc?.()
  const { rss, heapUsed, external } = process.memoryUsage()
  console.log(`MEMORY ${JSON.stringify({ rss, heap: heapUsed, external })}`)
})
