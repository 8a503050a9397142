import processOnSpawn from 'process-on-spawn'

// tap makes every process that a test starts record which files it loads, for a coverage that is not measured here. A
// service takes nearly twice as long to start with that.

const RECORDING = /\s*"?--import=\S*@tapjs\/processinfo\S*/g

processOnSpawn.addListener((spawned) => {
  const options = spawned.env['NODE_OPTIONS']
  if (options !== undefined) spawned.env = { ...spawned.env, NODE_OPTIONS: options.replace(RECORDING, '').trim() }
})
