// The local Temporal server's dynamic configuration: what differs from the defaults, and why.

/** Keys and values as the server reads them. */
export type DynamicConfig = Readonly<Record<string, boolean | number | string>>

const OURS: DynamicConfig = {
  // Fast-forwarding of single executions, and more skips at a stretch than the default 200.
  'frontend.WorkflowTimeSkippingEnabled': true,
  'frontend.WorkflowTimeSkippingMaxSkipPerSession': 100_000,
  // How far timers are read ahead; the default second makes them, and each skip, late. On several nodes it must stay
  // above their clocks' differences.
  'history.timerProcessorMaxTimeShift': '20ms',
  // A new namespace can be used at once, and so can new search attributes, whose names are the namespace's.
  'system.namespaceCacheRefreshInterval': '500ms',
  // One node: one partition answers faster than four that forward to each other.
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  // Executions kept in memory, some forty kilobytes each. Most sleep for days; the default of 128,000 keeps them all.
  'history.hostLevelCacheMaxSize': 2_000,
  // Lists and counts for people and tests; the default is 10 a second.
  'frontend.namespaceRPS.visibility': 200,
}

/** The same as the YAML file the server polls. */
export function dynamicConfigFile(besides: DynamicConfig = {}): string {
  const entries = Object.entries({ ...OURS, ...besides })
  return entries.map(([key, value]) => `${key}:\n  - value: ${JSON.stringify(value)}\n`).join('')
}

/** The same as arguments of the CLI's development server. */
export function dynamicConfigArguments(besides: DynamicConfig = {}): string[] {
  const entries = Object.entries({ ...OURS, ...besides })
  return entries.flatMap(([key, value]) => ['--dynamic-config-value', `${key}=${JSON.stringify(value)}`])
}
