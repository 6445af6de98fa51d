import { Resvg } from '@resvg/resvg-js';
import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';

export interface DrawnChart {
  svg: string;
  png: Uint8Array;
}

const PNG_WIDTH = 1_200;

/** Draws a Vega-Lite chart without a screen. The letters of the PNG are those of this machine's fonts. */
export async function drawChart(spec: TopLevelSpec): Promise<DrawnChart> {
  const view = new View(parse(compile(spec).spec), { renderer: 'none' });
  try {
    const svg = await view.toSVG();
    const image = new Resvg(svg, { fitTo: { mode: 'width', value: PNG_WIDTH } });
    return { svg, png: image.render().asPng() };
  } finally {
    view.finalize();
  }
}
