type Context = 'plain' | 'single' | 'double'

/**
 * Interactive zsh runs the words of a comment and refuses unquoted patterns without a match; bash and zsh expand
 * exclamation marks outside single quotes. A placeholder is trouble in any shell.
 */
export function troubleInShell(block: string): string[] {
  const trouble: string[] = []
  // The contexts that a $( stands in, with the current one last.
  const contexts: Context[] = ['plain']
  let line = 1
  for (let at = 0; at < block.length; at += 1) {
    const char = block.charAt(at)
    const context = contexts.at(-1)
    if (char === '\n') line += 1
    const found = (what: string) => trouble.push(`line ${line}: ${what}`)
    if (char === '…') found('a placeholder')
    if (context === 'single') {
      if (char === "'") contexts.pop()
    } else if (char === '\\') {
      at += 1
      if (block.charAt(at) === '\n') line += 1
    } else if (char === '$' && block.charAt(at + 1) === '(') {
      contexts.push('plain')
      at += 1
    } else if (char === '!') {
      found('! outside of single quotes')
    } else if (context === 'double') {
      if (char === '"') contexts.pop()
    } else if (char === "'") {
      contexts.push('single')
    } else if (char === '"') {
      contexts.push('double')
    } else if (char === ')' && contexts.length > 1) {
      contexts.pop()
    } else if ('?*['.includes(char)) {
      found(`${char} outside of quotes`)
    } else if (char === '#' && /^$|\s/.test(block.charAt(at - 1))) {
      found('a comment')
    }
  }
  if (contexts.length > 1) trouble.push('a quote that does not end')
  return trouble
}
