/** report is a chain of three; its first node leaves a line in a file each time it runs. */
export function report(second) {
  return {
    description: 'A report in three steps',
    inputs: {
      title: { type: 'string', description: 'what stands before the lines' },
      log: { type: 'string', description: 'the file that gets a line at each run' },
    },
    nodes: [
      { id: 'first', type: 'shell', params: { command: 'echo one line >> "${log}"' } },
      { id: 'second', type: 'shell', params: { command: second } },
      { id: 'third', type: 'shell', params: { command: 'printf "%s: %s" "${title}" "${second.stdout}"' } },
    ],
    edges: [{ from: 'first', to: 'second' }, { from: 'second', to: 'third' }],
    outputs: { report: { description: 'the title and the lines', source: '${third.stdout}' } },
  };
}
