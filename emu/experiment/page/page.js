/* The report's page: tables and figures from the data that croft report has put into it. All text enters the page as text, never
 * as HTML, because names come from descriptions and programs. */
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);
const rowHeight = 24;

/* Creates an element with properties and children. */
function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function download(name, type, text) {
  const link = make('a', {href: URL.createObjectURL(new Blob([text], {type})), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function csv(rows) {
  const quote = value => {
    const text = value === null || value === undefined || Number.isNaN(value) ? '' : String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map(row => row.map(quote).join(',')).join('\n') + '\n';
}

function format(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return '';
  if (Number.isInteger(value)) return value.toLocaleString('en-US').replaceAll(',', '\u2009');
  if (Math.abs(value) < 1e-3) return value.toExponential(3);
  return Math.abs(value) >= 1e4 ? value.toFixed(0) : Math.abs(value) >= 100 ? value.toFixed(1) : value.toPrecision(4);
}

/* What a reader would write a quantity in: by the unit of its statistic, the larger units with how many of it they are. */
const larger = {
  fs: [[1e15, 's'], [1e12, 'ms'], [1e9, 'us'], [1e6, 'ns'], [1e3, 'ps']],
  fJ: [[1e15, 'J'], [1e12, 'mJ'], [1e9, 'uJ'], [1e6, 'nJ'], [1e3, 'pJ']],
  bytes: [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB']],
};

/* Returns the unit in which the largest of some values has the fewest digits before its point, and the factor to it. */
function unitFor(unit, values) {
  const most = d3.max(values, value => Math.abs(value ?? 0)) || 0;
  const [size, name] = larger[unit]?.find(([size]) => most >= size) || [1, unit || ''];
  return {factor: 1 / size, name};
}

/* A name with its unit behind it, unless the name says it. */
function withUnit(name, unit) {
  return !unit || name.toLowerCase().includes(unit.toLowerCase()) && unit.length > 3 ? name : `${name} (${unit})`;
}

/* A name that fits into a label of so many characters: its beginning and its end, because long names often differ there. */
function shortened(name, most) {
  const letters = [...String(name)], tail = Math.max(1, Math.floor((most - 1) / 2));
  return letters.length <= most ? String(name) : letters.slice(0, Math.max(1, most - 1 - tail)).join('') + '\u2026' + letters.slice(-tail).join('');
}
const letter = 7.4; // pixels of a letter in a figure, about

/* The labels of an axis: short, however large or small the numbers. */
function tick(value) {
  if (value !== 0 && Math.abs(value) < 1e-3) return Number(value.toPrecision(3)).toExponential();
  return Math.abs(value) >= 1e4 ? d3.format('~s')(value) : String(Number(value.toPrecision(6)));
}

/* A channel of colours. Without the scale, points that are named like colours would be drawn in them. */
const coloured = name => ({value: name, scale: 'color'});

/* Adds a section with a heading that the navigation links to. */
function section(title) {
  const id = title.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  const part = make('section', {id}, make('h2', {}, title));
  document.querySelector('main').append(part);
  document.querySelector('nav').append(make('a', {href: '#' + id}, title));
  return part;
}

/* Figures that are not drawn yet: their bodies, and what draws them. A figure is drawn when it comes near the window, when it is
 * saved, or when the page is printed. */
const waiting = new Map();
const nearby = new IntersectionObserver(entries => {
  for (const entry of entries) if (entry.isIntersecting) drawNow(entry.target);
}, {rootMargin: '400px'});

function drawNow(body) {
  const draw = waiting.get(body);
  if (!draw) return;
  waiting.delete(body);
  nearby.unobserve(body);
  body.style.minHeight = '';
  try {
    body.append(draw());
  } catch (error) {
    body.append(make('p', {className: 'broken'}, `This figure cannot be drawn: ${error.message}`));
  }
}

function drawAll() {
  for (const body of waiting.keys()) {
    if (body.isConnected) drawNow(body);
    else waiting.delete(body);
  }
}

/* Adds a figure: a drawing that draw() makes, about as high, and the rows behind it that rows() makes, for downloading as SVG and
 * CSV. */
function figure(parent, title, rows, draw, note, height = 400) {
  const name = title.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  const body = make('div', {style: `min-height: ${height}px`});
  const saveSvg = () => {
    drawNow(body);
    download(name + '.svg', 'image/svg+xml', svgText(body));
  };
  const box = make('figure', {}, make('figcaption', {}, make('b', {}, title),
    make('button', {type: 'button', title: 'save the drawing', onclick: saveSvg}, 'SVG'),
    make('button', {type: 'button', title: 'save the numbers', onclick: () => download(name + '.csv', 'text/csv', csv(rows()))}, 'CSV')), body);
  if (note) box.append(make('p', {}, note));
  parent.append(box);
  waiting.set(body, draw);
  nearby.observe(body);
  return box;
}

/* Returns the largest drawing of a figure as a file of its own: with its legend's entries as text, and black on white. */
function svgText(body) {
  const drawings = [...body.querySelectorAll('svg')].sort((a, b) => b.clientWidth * b.clientHeight - a.clientWidth * a.clientHeight);
  const copy = drawings[0].cloneNode(true);
  const height = Number(copy.getAttribute('height')) || 0;
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('style', 'color: #000; background: #fff; font: 11px sans-serif');
  const swatches = [...body.querySelectorAll('[class*="swatch"] svg')].map(svg => [svg.getAttribute('fill') || svg.querySelector('[fill]')?.getAttribute('fill'), svg.parentElement.textContent]);
  if (swatches.length && height) {
    const width = Number(copy.getAttribute('width'));
    copy.setAttribute('height', height + 20 * Math.ceil(swatches.length / 5));
    copy.setAttribute('viewBox', `0 0 ${width} ${height + 20 * Math.ceil(swatches.length / 5)}`);
    swatches.forEach(([fill, text], i) => {
      const x = 40 + (i % 5) * (width - 60) / 5, y = height + 12 + 20 * Math.floor(i / 5);
      const at = (tag, attributes) => {
        const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
        for (const key in attributes) element.setAttribute(key, attributes[key]);
        copy.append(element);
        return element;
      };
      at('rect', {x, y: y - 9, width: 10, height: 10, fill: fill || '#888'});
      at('text', {x: x + 14, y}).textContent = text;
    });
  }
  const colours = {mark: '#0b62c4', back: '#ffffff', text: '#000000', line: '#999999'};
  return new XMLSerializer().serializeToString(copy).replace(/var\(--([a-z]+)\)/g, (whole, name) => colours[name] || '#000000');
}

const look = {width: 1100, marginTop: 34, marginLeft: 70, marginBottom: 46, style: {background: 'none', color: 'inherit', fontSize: '12px'}};
const half = {...look, width: 540, marginLeft: 60}; // of figures that stand beside one another
const palette = {scheme: 'Observable10', legend: true};

/* Adds a place where figures stand beside one another. */
function beside(parent) {
  const grid = make('div', {className: 'beside'});
  parent.append(grid);
  return grid;
}

/* --- The table --- */

const axes = data.axes || [], columns = data.columns || [];
const rowCount = axes.length ? axes[0].codes.length : 0;
const pointOf = (axis, row) => axis.points[axis.codes[row]];

/* Returns the number that a point's name stands for, so that 64KiB is less than 1MiB. NaN: none. */
function pointNumber(name) {
  const match = /^([0-9]+(?:[._][0-9]+)?) ?([kKMGT]?i?)(B|Hz|s)?$/.exec(name);
  if (!match) return NaN;
  const powers = {'': 1, k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40};
  return Number(match[1].replace('_', '.')) * (powers[match[2]] ?? NaN);
}

/* Returns what the points of an axis are sorted by: the numbers that they stand for, or their places in the alphabet. */
function pointKeys(axis) {
  const numbers = axis.points.map(pointNumber), keys = [];
  if (!numbers.some(Number.isNaN)) return numbers;
  d3.sort(d3.range(axis.points.length), i => axis.points[i]).forEach((i, place) => { keys[i] = place; });
  return keys;
}

function showTable() {
  const part = section('Results');
  const fields = [
    ...axes.map(axis => {
      let keys = null; // made when somebody sorts
      const key = row => (keys ||= pointKeys(axis))[axis.codes[row]];
      return {name: axis.name, key, text: row => pointOf(axis, row)};
    }),
    ...columns.map(column => {
      const unit = unitFor(column.unit, column.values), scaled = value => value === null || value === undefined ? null : value * unit.factor;
      return {name: withUnit(column.name, unit.name), number: true, key: row => column.values[row] ?? NaN, text: row => format(scaled(column.values[row])),
              reference: row => scaled(column.references?.[row])};
    }),
    {name: 'failure', key: row => data.failures[row] || '', text: row => data.failures[row] || '', failed: true},
  ].filter(field => !field.failed || Object.keys(data.failures).length);
  let order = new Uint32Array(), sorted = null, descending = false, chosen = -1;
  const body = make('tbody'), above = make('tr', {className: 'spacer'}), below = make('tr', {className: 'spacer'});
  const heads = fields.map((field, i) => make('th', {scope: 'col', className: field.number ? 'number' : '', ariaSort: 'none'},
    make('button', {type: 'button', onclick: () => sort(i), title: 'sort by this column'}, field.name)));
  const table = make('table', {}, make('thead', {}, make('tr', {}, ...heads)), body);
  const box = make('div', {className: 'rows', tabIndex: 0, role: 'region', ariaLabel: 'results'}, table);
  const counter = make('span', {className: 'note', role: 'status'});
  const filter = make('input', {type: 'search', placeholder: 'filter: text in any axis', ariaLabel: 'filter', oninput: () => refresh()});

  function line(row) {
    const tr = make('tr', {tabIndex: -1, onclick: () => choose(row)});
    if (data.means?.includes(row)) tr.className = 'mean';
    if (row === chosen) tr.classList.add('chosen');
    for (const field of fields) {
      const cell = make('td', {className: field.number ? 'number' : field.failed ? 'failed' : ''}, field.text(row));
      if (!field.number && String(field.text(row)).length > 20) cell.title = field.text(row); // the cell can be too narrow
      const reference = field.reference?.(row);
      if (reference !== undefined && reference !== null) cell.append(make('small', {}, ` (${format(reference)})`));
      tr.append(cell);
    }
    return tr;
  }
  function spacer(tr, count) {
    tr.replaceChildren();
    if (count > 0) tr.append(make('td', {colSpan: fields.length, style: `height: ${count * rowHeight}px; border: 0`}));
  }
  let shown = [-1, -1];
  function render(first, last) {
    if (first === shown[0] && last === shown[1]) return;
    shown = [first, last];
    spacer(above, first);
    spacer(below, order.length - last);
    body.replaceChildren(above, ...Array.from(order.subarray(first, last), line), below);
  }
  function view() {
    const first = Math.max(0, Math.floor(box.scrollTop / rowHeight) - 20);
    render(first, Math.min(order.length, first + Math.ceil(box.clientHeight / rowHeight) + 60));
  }
  function refresh() {
    const text = filter.value.trim().toLowerCase();
    const matches = text ? axes.map(axis => axis.points.map(point => point.toLowerCase().includes(text))) : [];
    order = Uint32Array.from({length: rowCount}, (_, row) => row);
    if (text) order = order.filter(row => matches.some((axis, i) => axis[axes[i].codes[row]]));
    if (sorted !== null) {
      const keys = new Array(rowCount), key = fields[sorted].key, sign = descending ? -1 : 1;
      for (const row of order) keys[row] = key(row);
      order.sort((a, b) => { // unknown values last
        const x = keys[a], y = keys[b], none = (Number.isNaN(x) ? 1 : 0) - (Number.isNaN(y) ? 1 : 0);
        return none || (x < y ? -sign : x > y ? sign : a - b);
      });
    }
    counter.textContent = `${format(order.length)} of ${format(rowCount)} rows`;
    shown = [-1, -1];
    view();
  }
  function sort(i) {
    descending = sorted === i ? !descending : false;
    sorted = i;
    heads.forEach((head, j) => { head.ariaSort = j !== i ? 'none' : descending ? 'descending' : 'ascending'; });
    heads.forEach((head, j) => { head.firstChild.textContent = fields[j].name + (j !== i ? '' : descending ? ' \u25bc' : ' \u25b2'); });
    box.scrollTop = 0;
    refresh();
  }
  function choose(row) {
    chosen = row;
    shown = [-1, -1];
    view();
    const i = (data.runs || []).findIndex(run => run.row === row);
    if (i >= 0) document.dispatchEvent(new CustomEvent('choose', {detail: i}));
  }
  box.addEventListener('scroll', view, {passive: true});
  box.addEventListener('keydown', event => {
    const steps = {ArrowDown: rowHeight, ArrowUp: -rowHeight, PageDown: box.clientHeight - 2 * rowHeight, PageUp: 2 * rowHeight - box.clientHeight};
    if (event.target !== box || !(event.key in steps || event.key === 'Home' || event.key === 'End')) return;
    event.preventDefault();
    if (event.key === 'Home') box.scrollTop = 0;
    else if (event.key === 'End') box.scrollTop = box.scrollHeight;
    else box.scrollTop += steps[event.key];
  });
  addEventListener('beforeprint', () => render(0, Math.min(order.length, 1000)));
  addEventListener('afterprint', view);
  part.append(make('div', {className: 'bar'}, filter, counter,
    make('button', {type: 'button', onclick: () => download('results.csv', 'text/csv', csv([
      [...axes.map(axis => axis.name), ...columns.flatMap(column => column.references ? [column.name, column.name + '.reference'] : [column.name]), 'failure'],
      ...Array.from(order, row => [...axes.map(axis => pointOf(axis, row)),
        ...columns.flatMap(column => column.references ? [column.values[row], column.references[row]] : [column.values[row]]), data.failures[row]]),
    ]))}, 'CSV')), box, make('p', {}, 'A click on a row shows its details below, if they are in the page. References are in brackets. Printed: the first 1000 rows.'));
  refresh();
}

/* --- Figures of the results --- */

/* Averages a column over those of the rows that have the same points of two axes. */
function grouped(column, xAxis, zAxis, rows) {
  const groups = new Map();
  for (const row of rows) {
    const value = column.values[row];
    if (value === null || value === undefined) continue;
    const x = xAxis.codes[row], z = zAxis ? zAxis.codes[row] : 0, key = x * 1048576 + z;
    let group = groups.get(key);
    if (!group) groups.set(key, group = {xi: x, zi: z, sum: 0, count: 0, reference: null, differ: false});
    group.sum += value;
    group.count++;
    const reference = column.references?.[row] ?? null;
    if (reference !== null) {
      group.differ ||= group.reference !== null && group.reference !== reference;
      group.reference = reference;
    }
  }
  return [...groups.values()].sort((a, b) => a.xi - b.xi || a.zi - b.zi)
    .map(group => ({x: xAxis.points[group.xi], z: zAxis ? zAxis.points[group.zi] : column.name, value: group.sum / group.count,
                    count: group.count, reference: group.differ ? null : group.reference}));
}

/* Averages neighbours along x, if there are more points than a drawing can show. */
function thin(points) {
  if (points.length <= 4000) return points;
  const [low, high] = d3.extent(points, p => p.x), bins = new Map();
  for (const p of points) {
    const key = `${Math.floor((p.x - low) / (high - low || 1) * 998.9)} ${p.z}`, bin = bins.get(key);
    if (bin) {
      bin.value = (bin.value * bin.count + p.value * p.count) / (bin.count + p.count);
      bin.count += p.count;
    } else bins.set(key, {...p, reference: null});
  }
  return [...bins.values()];
}

/* The colours of series: a point of an axis has the same one in all figures, also in those that lack some of the points. */
function colours(series, zAxis) {
  const domain = [...new Set(series)], place = name => zAxis ? zAxis.points.indexOf(name) : 0;
  return {legend: true, domain, range: domain.map(name => d3.schemeObservable10[place(name) % 10])};
}

/* Draws points as bars, or as lines along an axis of numbers; in panels one above the other, if `panels` has their names. */
function drawGroups(all, xAxis, zAxis, column, panels = null) {
  const unit = unitFor(column.unit, all.map(p => p.value)), scaled = value => value === null ? null : value * unit.factor;
  const points = all.map(p => ({...p, value: scaled(p.value), reference: scaled(p.reference)}));
  const label = withUnit(column.name, unit.name);
  const zName = zAxis?.name || '', color = colours(points.map(p => p.z), zAxis);
  const numeric = xAxis.points.every(point => !Number.isNaN(pointNumber(point))) && xAxis.points.length > 2;
  const frame = {...look, color, y: {label, grid: true, nice: true, zero: numeric || undefined, tickFormat: tick}};
  const fy = panels ? {fy: 'panel'} : {};
  if (panels) Object.assign(frame, {height: 60 + 170 * panels.length, marginRight: 160, fy: {label: null, domain: panels, padding: 0.12, tickFormat: name => shortened(name, 20)}});
  return numeric ? drawLines(points, xAxis, frame, fy) : drawBars(points, xAxis, zName, frame, fy, unit.name);
}

function drawLines(points, xAxis, frame, fy) {
  const at = d3.groups(points, p => p.panel).flatMap(([, own]) => thin(own.map(point => ({...point, x: pointNumber(point.x)}))));
  const wide = d3.max(at, p => p.x) > 32 * Math.max(d3.min(at, p => p.x), 1e-9) && d3.min(at, p => p.x) > 0;
  const dots = at.length <= 2000, names = d3.sort(new Map(points.map(point => [pointNumber(point.x), point.x])), entry => entry[0]);
  const few = names.length <= 16; // each point has its name below it
  return Plot.plot({...frame, x: {label: xAxis.name, type: wide ? 'log' : 'linear', tickFormat: wide ? '~s' : undefined},
    marks: [Plot.ruleY([0]), ...(few ? [Plot.axisX(names.map(entry => entry[0]), {text: names.map(entry => entry[1])})] : []),
      Plot.lineY(at, {...fy, x: 'x', y: 'value', stroke: coloured('z'), strokeWidth: 2}),
      ...(dots ? [Plot.dot(at, {...fy, x: 'x', y: 'value', fill: coloured('z'), r: 3, tip: {fill: 'var(--back)'}})] : []),
      Plot.dot(at.filter(p => p.reference !== null), {...fy, x: 'x', y: 'reference', stroke: coloured('z'), symbol: 'times', r: 5, strokeWidth: 2})]});
}

function drawBars(points, xAxis, zName, frame, fy, unit) {
  const bars = points.slice(0, 400), references = bars.filter(point => point.reference !== null);
  const groups = new Set(bars.map(p => p.x)).size, width = Math.max(400, Math.min(look.width, 160 + 60 * groups * new Set(bars.map(p => p.z)).size)); // a few bars are not as broad as the page
  const title = p => `${p.panel ? p.panel + ': ' : ''}${p.x}, ${zName} ${p.z}: ${format(p.value)} ${unit}${p.count > 1 ? ` (mean of ${p.count})` : ''}${p.reference === null ? '' : `, reference ${format(p.reference)}`}`;
  const broad = fy.fy ? look.width : width, fits = Math.floor((broad - look.marginLeft - (fy.fy ? 160 : 20)) / groups / letter);
  return Plot.plot({...frame, width: broad, marginBottom: 60, fx: {label: xAxis.name, labelOffset: 40, domain: [...new Set(bars.map(p => p.x))], padding: 0.15, tickFormat: name => shortened(name, fits)},
    x: {axis: null, domain: [...new Set(bars.map(p => p.z))]},
    marks: [Plot.ruleY([0]), Plot.barY(bars, {...fy, fx: 'x', x: 'z', y: 'value', fill: coloured('z'), tip: {fill: 'var(--back)'}, title}),
      Plot.tickY(references, {...fy, fx: 'x', x: 'z', y: 'reference', stroke: 'currentColor', strokeWidth: 2.5}),
      Plot.dot(references, {...fy, fx: 'x', x: 'z', y: 'reference', fill: 'currentColor', symbol: 'diamond', r: 3})]});
}

function rowsOf(points, x, z, {name, unit}, panel = null) {
  const column = withUnit(name, unit);
  const head = panel === null ? [] : [panel], own = p => panel === null ? [] : [p.panel];
  return [[...head, x, z, column, column + '.reference', 'rows'], ...points.map(p => [...own(p), p.x, p.z, p.value, p.reference, p.count])];
}

/* One figure for each table of the description: across the axis, by program, or by another axis where there is one program. It has a panel for
 * each combination of further axes, with one scale, but means over axes that have too many points for panels. */
const panelsMost = 12;

function showFigures() {
  if (!rowCount || !columns.length) return;
  const part = section('Figures');
  for (const table of data.tables || []) {
    const column = columns.find(c => c.name === table.column), across = axes.find(a => a.name === table.across);
    if (column && across) showFigure(part, column, across);
  }
  explorer(part);
}

function showFigure(part, column, across) {
  const further = axes.filter(a => a !== across && a !== axes[0] && a.points.length > 1), fits = a => a.points.length <= panelsMost && 2 * a.points.length <= rowCount;
  const program = axes[0].points.length > 1 || !further.some(fits) ? axes[0] : further.find(fits), others = further.filter(a => a !== program);
  const panelAxes = others.filter(fits), meanAxes = others.filter(a => !panelAxes.includes(a));
  const lines = across.points.length > 2 && across.points.every(point => !Number.isNaN(pointNumber(point)));
  const x = lines ? across : program, z = lines ? program : across;
  const rows = d3.range(rowCount).filter(row => (column.values[row] ?? null) !== null);
  const panels = [...d3.group(rows, row => panelAxes.map(a => pointOf(a, row)).join(', '))].map(([name, own]) => ({name, rows: own})), shown = panels.slice(0, panelsMost);
  if (!rows.length) return;
  const points = once(() => shown.flatMap(panel => grouped(column, x, z, panel.rows).map(point => ({...point, panel: panel.name}))));
  const names = shown.length > 1 ? shown.map(panel => panel.name) : null;
  const notes = [meanAxes.length ? `Mean over ${meanAxes.map(a => a.name).join(', ')}.` : '',
    rows.some(row => (column.references?.[row] ?? null) !== null) ? 'Marks: the references of the description, as the paper gives them.' : '',
    panels.length > shown.length ? `${panels.length - shown.length} further panels are left out; choose them below.` : ''];
  figure(part, `${column.name} by ${across.name}${panelAxes.length ? `, for each ${panelAxes.map(a => a.name).join(' and ')}` : ''}`,
    () => rowsOf(points(), x.name, z.name, column, names && panelAxes.map(a => a.name).join(', ')), () => drawGroups(points(), x, z, column, names), notes.join(' ').trim(),
    names ? 60 + 170 * names.length : 400);
}

/* Returns a function that makes a value when it is first called. */
function once(make) {
  let value;
  return () => value ??= make();
}

/* A figure whose column and axes the reader chooses; it averages over the other axes. */
function explorer(part) {
  const select = (label, names, value) => {
    const box = make('select', {ariaLabel: label, onchange: draw}, ...names.map(name => make('option', {value: name, selected: name === value}, name)));
    return [make('label', {}, label + ' ', box), box];
  };
  const largest = d3.greatest(axes, axis => axis.points.length);
  const [yLabel, y] = select('column', columns.map(c => c.name), columns.at(-1).name);
  const [xLabel, x] = select('along', axes.map(a => a.name), largest.name);
  const [zLabel, z] = select('colour', ['none', ...axes.map(a => a.name)], axes.find(a => a !== largest && a.points.length > 1 && a.points.length <= 20)?.name || 'none');
  const body = make('div');
  part.append(make('h3', {}, 'Choose'), make('div', {className: 'bar'}, yLabel, xLabel, zLabel), body);
  function draw() {
    body.replaceChildren();
    const column = columns.find(c => c.name === y.value), along = axes.find(a => a.name === x.value), colour = axes.find(a => a.name === z.value);
    const points = once(() => {
      const means = new Set(along === axes[0] || colour === axes[0] ? [] : data.means || []);
      return grouped(column, along, colour, d3.range(rowCount).filter(row => !means.has(row)));
    });
    figure(body, `${column.name} along ${along.name}`, () => rowsOf(points(), along.name, colour?.name || '', column), () => drawGroups(points(), along, colour, column),
      along.points.length > 1000 ? 'Mean over all other axes, and over neighbours if there are more points than a drawing can show; the CSV has all points.' : 'Mean over all other axes.');
  }
  draw();
}

/* --- Statistics of runs --- */

/* Machines differ in their statistics, so each run names its set of names. */
const sets = (data.names || []).map(set => ({...set, found: new Map()}));
const setOf = run => sets[run.names];

/* Returns the statistics of a run whose names match, with the groups of the match: [{name, index, match}]. */
function matching(pattern, run) {
  const set = setOf(run), key = String(pattern);
  if (!set.found.has(key)) {
    const found = [];
    set.names.forEach((name, index) => {
      const match = pattern.exec(name);
      if (match) found.push({name, index, match});
    });
    set.found.set(key, found);
  }
  return set.found.get(key);
}

const valueOf = (values, index) => {
  const value = values[index];
  return value === null || value === undefined ? 0 : Number(value);
};

/* Stacked bars: one bar for each item, in parts. */
function stack(parent, title, unit, items, note) {
  const parts = items.filter(item => item.value > 0);
  if (!parts.length) return;
  const bars = [...new Set(items.map(item => item.bar))], shown = new Set(bars.slice(0, 60));
  const points = parts.filter(item => shown.has(item.bar)), title_ = p => `${p.bar}\n${p.part}: ${format(p.value)} ${unit}`, tip = {fill: 'var(--back)'};
  const flat = shown.size <= 6, height = flat ? 76 + 45 * shown.size : 400; // a few bars lie, so that they are not as broad as the page
  const draw = () => Plot.plot(flat
    ? {...look, height, marginLeft: 150, y: {label: null, domain: [...shown], tickFormat: name => shortened(name, 21)}, x: {label: unit, grid: true, tickFormat: tick}, color: palette,
      marks: [Plot.barX(points, {y: 'bar', x: 'value', fill: coloured('part'), fillOpacity: p => p.failed ? 0.35 : 1, title: title_, tip}), Plot.ruleX([0])]}
    : {...look, height, marginBottom: 90, x: {label: null, domain: [...shown], tickRotate: shown.size > 8 ? -40 : 0, tickFormat: name => shortened(name, shown.size > 8 ? 18 : Math.floor(980 / shown.size / letter))}, y: {label: unit, grid: true, tickFormat: tick}, color: palette,
      marks: [Plot.barY(points, {x: 'bar', y: 'value', fill: coloured('part'), fillOpacity: p => p.failed ? 0.35 : 1, title: title_, tip}), Plot.ruleY([0])]});
  figure(parent, title, () => [['bar', 'part', unit], ...items.map(item => [item.bar, item.part, item.value])], draw,
    bars.length > 60 ? `The first 60 of ${bars.length} bars; all are in the CSV. ${note || ''}` : note, height);
}

/* A heat map of items with x, y and value. */
function heat(parent, title, unit, items, xName, yName, note, size = look) {
  if (items.length < 4 || !items.some(item => item.value > 0)) return;
  const rows = new Set(items.map(item => item.y)).size;
  const height = Math.min(900, 90 + rows * (rows > 30 ? 14 : 24));
  figure(parent, title, () => [[yName, xName, unit], ...items.map(item => [item.y, item.x, item.value])], () => Plot.plot({...size, height, marginLeft: size === look ? 110 : 60, marginBottom: size === look ? 80 : 40,
    x: {label: xName, tickRotate: size === look ? -40 : 0}, y: {label: yName}, color: {scheme: 'YlGnBu', label: unit, legend: true, tickFormat: '~s'},
    marks: [Plot.cell(items, {x: 'x', y: 'y', fill: 'shade' in items[0] ? 'shade' : 'value', inset: 0.5, title: p => `${yName} ${p.y}, ${xName} ${p.x}: ${format(p.value)} ${unit}`, tip: {fill: 'var(--back)'}})]}), note, height);
}

/* A run that failed ends early: its figures say so. */
const hasFailed = run => data.failures?.[run.row] !== undefined;
const nameOf = run => hasFailed(run) ? `${run.label} (failed)` : run.label;

/* Sums the parts of stacks by run, over all cores. */
function stacksByRun(part) {
  const kinds = [
    ['CPI stacks of the hosts', 'cycles', /^(?:[^.]*\.)*?host\.\d+\.cpi\.(.+)$/],
    ['CPI stacks of the accelerators', 'cycles', /^(?:[^.]*\.)*?accel\.\d+\.cpi\.(.+)$/],
    ['Stalls of the multiprocessors', 'clocks', /scheduler\.\d+\.([a-z_]+)$/],
    ['Energy', 'fJ', /^(.*?)\.energy$/],
  ];
  for (const [title, unit, pattern] of kinds) {
    const items = [];
    for (const run of data.runs) {
      const sums = new Map(), found = matching(pattern, run);
      for (const {index, match} of found) {
        const name = title === 'Energy' ? match[1].replace(/\.\d+/g, '').replace(/^(.+?)\..*$/, '$1') : match[1];
        sums.set(name, (sums.get(name) || 0) + valueOf(run.total, index));
      }
      for (const [name, value] of sums) items.push({bar: nameOf(run), part: name, value, failed: hasFailed(run)});
    }
    const shown = unitFor(unit, [...d3.rollup(items, own => d3.sum(own, item => item.value), item => item.bar).values()]);
    stack(part, title, shown.name, items.map(item => ({...item, value: item.value * shown.factor})),
      `Whole runs, all parts of the kind added up.${items.some(item => item.failed) ? ' Runs that failed are pale: they end where they failed.' : ''}`);
  }
}

/* Rooflines: operations a second over operations a byte of DRAM, below what the machine's description allows; and the same for
 * instructions. Operations are the additions, multiplications and divisions of integers and floating-point numbers, logic and
 * shifts; a fused multiply-add is two. */
const operations = [
  [/(?:^|\.)class\.(?:alu|mul|div|fadd|fmul|fdiv|fsqrt)$/, 1], [/(?:^|\.)class\.fma$/, 2],
  [/(?:^|\.)simt\.\d+\.work\.(?:alu|mul|div|divw)$/, 1], [/(?:^|\.)simt\.\d+\.flops$/, 1],
];
const instructions = [[/^(?:.*\.)?(?:host|accel)\.\d+\.instructions$|\.thread_instructions$/, 1]];

function rooflines(part) {
  roofline(part, 'Roofline', 'operations', operations,
    'Operations: those of the classes alu, mul, div, fadd, fmul, fdiv, fsqrt, and two for each fma; addresses and counters of loops are among those of alu.');
  roofline(part, 'Roofline of instructions', 'instructions', instructions, 'All instructions of cores, and of threads of multiprocessors.');
}

function roofline(part, title, what, kinds, note) {
  const points = [], roofs = new Map();
  for (const run of data.runs) {
    const sum = pattern => d3.sum(matching(pattern, run), s => valueOf(run.total, s.index));
    const machine = data.machines[run.machine], seconds = sum(/^sim\.time$/) * 1e-15;
    const count = d3.sum(kinds, ([pattern, weight]) => weight * sum(pattern)), bytes = sum(/^(?:.*\.)?dram\.(?:reads|writes)$/) * (machine?.burst || 64);
    if (seconds > 0 && bytes > 0 && count > 0) points.push({label: nameOf(run), x: count / bytes, y: count / seconds / 1e9, failed: hasFailed(run)});
    if (machine?.bandwidth) roofs.set(`${machine.bandwidth} ${machine.issue}`, machine);
  }
  if (!points.length) return;
  const span = d3.extent(points, p => p.x), lines = [];
  let [low, high] = [span[0] / 4, span[1] * 4];
  for (const roof of roofs.values()) // the knee is in view
    if (roof.issue) [low, high] = [Math.min(low, roof.issue / roof.bandwidth / 4), Math.max(high, roof.issue / roof.bandwidth * 4)];
  for (const [key, roof] of [...roofs].slice(0, 6)) {
    const top = roof.issue ? roof.issue / 1e9 : Infinity, slope = roof.bandwidth / 1e9, knee = top / slope;
    for (const x of [low, Math.min(Math.max(knee, low), high), high]) lines.push({key, x, y: Math.min(top, slope * x)});
  }
  figure(part, title, () => [['run', `${what}/byte`, `${what}/ns`], ...points.map(p => [p.label, p.x, p.y])], () => Plot.plot({...look,
    x: {type: 'log', label: `${what} a byte of DRAM`, domain: [low, high], tickFormat: '~g'}, y: {type: 'log', label: `${what} a nanosecond`, grid: true, tickFormat: '~g'},
    marks: [Plot.lineY(lines, {x: 'x', y: 'y', z: 'key', stroke: 'currentColor', strokeWidth: 1.5}), Plot.dot(points, {x: 'x', y: 'y', fill: 'var(--mark)', fillOpacity: p => p.failed ? 0.35 : 1, r: 4, title: p => `${p.label}\n${format(p.x)} ${what} a byte, ${format(p.y)} a nanosecond`, tip: {fill: 'var(--back)'}})]}),
    `${note} Lines: peak bandwidth of DRAM (channels * burst_bytes / tBURST), and what all cores can decode or issue (width * clock; schedulers * width * clock of multiprocessors).`);
}

/* Details of one run. */
function detail(parent, run, region) {
  const values = region === 'total' ? run.total : run.regions[region];
  const {units, meanings} = setOf(run);
  parent.replaceChildren();
  stack(parent, 'CPI by core', 'cycles', matching(/^(.*?\b(?:host|accel)\.\d+)\.cpi\.(.+)$/, run).map(s => ({bar: s.match[1], part: s.match[2], value: valueOf(values, s.index)})));
  stack(parent, 'Stalls by scheduler', 'clocks', matching(/^(.*\.scheduler\.\d+)\.([a-z_]+)$/, run).map(s => ({bar: s.match[1], part: s.match[2], value: valueOf(values, s.index)})));
  const energy = matching(/^(.+)\.([^.]+)\.energy$/, run).map(s => ({bar: s.match[1].replace(/\.\d+/g, ''), part: s.match[2], value: valueOf(values, s.index)}));
  const joules = unitFor('fJ', [...d3.rollup(energy, own => d3.sum(own, item => item.value), item => item.bar).values()]);
  stack(parent, 'Energy by component', joules.name, energy.map(item => ({...item, value: item.value * joules.factor})));
  const small = beside(parent), histograms = d3.group(matching(/^(.*)\.(\d+|more)$/, run), s => s.match[1]);
  for (const [name, buckets] of histograms) {
    const items = buckets.map(s => ({x: s.match[2], value: valueOf(values, s.index)}));
    if (items.length < 3 || !items.some(item => item.value > 0) || /^(.*\.)?simt\.[1-9]/.test(name)) continue;
    figure(small, `Histogram: ${name}`, () => [['up to', units[buckets[0].index]], ...items.map(i => [i.x, i.value])], () => Plot.plot({...half, height: 220,
      x: {label: 'up to', domain: items.map(i => i.x), tickRotate: items.length > 12 ? -40 : 0}, marginBottom: items.length > 12 ? 60 : 46, y: {label: units[buckets[0].index], grid: true, tickFormat: tick}, marks: [Plot.barY(items, {x: 'x', y: 'value', fill: 'var(--mark)', tip: {fill: 'var(--back)'}}), Plot.ruleY([0])]}), meanings[buckets[0].index].replace(/: (?:at most|up to) .*$/, ''), 220);
  }
  heatMaps(parent, run, values);
}

/* Heat maps of what exists in copies: routers of networks, their ports, channels, banks, slices. */
function heatMaps(parent, run, values) {
  for (const [network, nodes] of d3.group(matching(/^(.*)\.node\.(\d+)\.flits$/, run), s => s.match[1])) {
    const side = Math.ceil(Math.sqrt(nodes.length));
    heat(parent, `Flits by node of ${network}`, 'flits', nodes.map(s => ({x: Number(s.match[2]) % side, y: Math.floor(Number(s.match[2]) / side), value: valueOf(values, s.index)})), 'column', 'row',
      'Nodes in rows of equal length, as in a square mesh.');
    heat(parent, `Busy clocks by port of ${network}`, 'clocks', matching(/^(.*)\.router\.(\d+)\.port\.(\d+)\.out\.busy$/, run).filter(s => s.match[1] === network)
      .map(s => ({x: Number(s.match[3]), y: Number(s.match[2]), value: valueOf(values, s.index)})), 'port', 'router');
  }
  const {units, meanings} = setOf(run), banks = matching(/^(.*)\.(\d+)\.bank\.(\d+)\.(activates|reads|writes|row_hits|row_conflicts)$/, run);
  const small = beside(parent);
  for (const [memory, found] of d3.group(banks, s => s.match[1]))
    for (const [name, list] of d3.group(found, s => s.match[4]))
      heat(small, `${memory}: ${name.replace('_', ' ')} by bank`, units[list[0].index], list.map(s => ({x: Number(s.match[3]), y: Number(s.match[2]), value: valueOf(values, s.index)})), 'bank', 'channel', `${meanings[list[0].index]}.`, half);
  const ofBanks = new Set(banks.map(s => s.index));
  for (const [kind, found] of d3.group(matching(/^(.*\bdram|.*\bl2|.*\bbank|.*\bcrossbar\.(?:in|out))\.(\d+)\.([a-z_]+)$/, run).filter(s => !ofBanks.has(s.index)), s => s.match[1])) {
    const largest = d3.rollup(found, list => d3.max(list, s => valueOf(values, s.index)), s => s.match[3]);
    const items = found.filter(s => largest.get(s.match[3]) > 0).map(s => ({x: s.match[3], y: Number(s.match[2]), value: valueOf(values, s.index), shade: valueOf(values, s.index) / largest.get(s.match[3])}));
    heat(parent, `${kind}: its copies`, 'share of the largest', items, 'statistic', 'number', 'Each column is shaded relative to its largest value.');
  }
}

/* All statistics of a run, to be searched. */
function statisticsTable(parent, run, region) {
  const {names, units, meanings} = setOf(run);
  const values = region === 'total' ? run.total : run.regions[region];
  const body = make('tbody'), search = make('input', {type: 'search', placeholder: 'name of a statistic', ariaLabel: 'statistic', oninput: show});
  function show() {
    const text = search.value.trim().toLowerCase(), lines = [];
    for (let i = 0; i < names.length && lines.length < 300; i++)
      if (!text || names[i].toLowerCase().includes(text))
        lines.push(make('tr', {}, make('td', {}, names[i]), make('td', {className: 'number'}, format(values[i] === null ? null : Number(values[i]))), make('td', {}, units[i]), make('td', {title: meanings[i]}, meanings[i])));
    body.replaceChildren(...lines);
  }
  parent.replaceChildren(make('div', {className: 'bar'}, search, make('span', {className: 'note'}, 'the first 300 that match'),
    make('button', {type: 'button', onclick: () => download('statistics.csv', 'text/csv', csv([['statistic', 'value', 'unit', 'meaning'], ...names.map((name, i) => [name, values[i], units[i], meanings[i]])]))}, 'CSV')),
    make('div', {className: 'rows', tabIndex: 0, role: 'region', ariaLabel: 'statistics'}, make('table', {}, make('thead', {}, make('tr', {}, ...['statistic', 'value', 'unit', 'meaning'].map(t => make('th', {scope: 'col'}, t)))), body)));
  show();
}

function showRuns() {
  if (!data.runs?.length) return;
  const part = section(data.runs.length > 1 ? 'Comparison of runs' : 'The run');
  stacksByRun(part);
  rooflines(part);
  const one = section('One run');
  const run = make('select', {ariaLabel: 'run', onchange: () => show(true)}, ...data.runs.map((r, i) => make('option', {value: i}, nameOf(r))));
  const region = make('select', {ariaLabel: 'region', onchange: () => show(false)});
  const figures = make('div'), table = make('div');
  one.append(make('div', {className: 'bar'}, make('label', {}, 'run ', run), make('label', {}, 'region ', region)));
  if (data.detailed < data.all) one.append(make('p', {}, `The page has all statistics of ${data.detailed} of ${data.all} runs.`));
  one.append(figures, table);
  function show(fresh) {
    const chosen = data.runs[run.value];
    if (fresh) region.replaceChildren(...['total', ...Object.keys(chosen.regions || {})].map(name => make('option', {value: name}, name)));
    detail(figures, chosen, region.value);
    statisticsTable(table, chosen, region.value);
  }
  document.addEventListener('choose', event => {
    run.value = event.detail;
    show(true);
    one.scrollIntoView();
  });
  show(true);
}

function showGraphs() {
  const graphs = data.graphs || [];
  if (!graphs.length) return;
  const part = section('The machine');
  for (const graph of graphs) {
    const box = make('figure', {className: 'plain'}, make('figcaption', {}, make('b', {}, graph.name)));
    if (graph.svg) {
      const drawing = new DOMParser().parseFromString(graph.svg, 'image/svg+xml').documentElement;
      box.firstChild.append(make('button', {type: 'button', onclick: () => download(graph.name + '.svg', 'image/svg+xml', graph.svg)}, 'SVG'));
      box.append(document.importNode(drawing, true));
    } else box.append(make('pre', {}, graph.text));
    part.append(box);
  }
}

addEventListener('beforeprint', drawAll);
document.title = data.title;
document.querySelector('h1').textContent = data.title;
document.getElementById('facts').textContent = data.facts;
document.getElementById('theme').onclick = () => {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches, now = document.documentElement.dataset.theme || (dark ? 'dark' : 'light');
  document.documentElement.dataset.theme = now === 'dark' ? 'light' : 'dark';
};
if (rowCount) showTable();
showFigures();
showRuns();
showGraphs();
document.body.dataset.ready = Math.round(performance.now());
