import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';

/** Draws a Vega-Lite chart as SVG, without a screen. */
export async function drawChart(spec: TopLevelSpec): Promise<string> {
  const view = new View(parse(compile(spec).spec), { renderer: 'none' });
  try {
    return await view.toSVG();
  } finally {
    view.finalize();
  }
}
