export type DynamicConfig = Readonly<Record<string, boolean | number | string>>

const OURS: DynamicConfig = {
  // Enables time skipping of single executions, with more consecutive skips than the default 200.
  'frontend.WorkflowTimeSkippingEnabled': true,
  'frontend.WorkflowTimeSkippingMaxSkipPerSession': 100_000,
  // How far timers are read ahead: the default, a second, delays timers and each skip. On several nodes it must
  // exceed the differences of their clocks.
  'history.timerProcessorMaxTimeShift': '20ms',
  // A new namespace and new search attributes can be used at once.
  'system.namespaceCacheRefreshInterval': '500ms',
  // On one node, one partition responds faster than four that forward to each other.
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  // Tasks that wait are dispatched to organizations in turn (`fairnessKey` in worker/relay.ts).
  'matching.enableFairness': true,
  // Executions kept in memory, some forty kilobytes each. Most sleep for days; the default of 128,000 keeps all.
  'history.hostLevelCacheMaxSize': 2_000,
  // Lists and counts for people and tests; the default is 10 a second.
  'frontend.namespaceRPS.visibility': 200,
}

export function dynamicConfigFile(besides: DynamicConfig = {}): string {
  const entries = Object.entries({ ...OURS, ...besides })
  return entries.map(([key, value]) => `${key}:\n  - value: ${JSON.stringify(value)}\n`).join('')
}

export function dynamicConfigArguments(besides: DynamicConfig = {}): string[] {
  const entries = Object.entries({ ...OURS, ...besides })
  return entries.flatMap(([key, value]) => ['--dynamic-config-value', `${key}=${JSON.stringify(value)}`])
}
