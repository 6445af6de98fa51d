/** Rows of cells as text, columns as wide as their widest cell; the first one, or those named, to the left. */
export function aligned(
  rows: readonly (readonly string[])[],
  leftColumns: readonly number[] = [0],
): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => {
          const width = widths[column] ?? 0;
          return leftColumns.includes(column) ? cell.padEnd(width) : cell.padStart(width);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** `held` of `all` in percent with one decimal; `-` for nothing of nothing. */
export const percentage = (held: number, all: number): string =>
  all === 0 ? '-' : ((100 * held) / all).toFixed(1);
