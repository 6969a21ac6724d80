// Filters and sorts the scoreboard. Without this file all its rows stand in the order of the papers.
document.addEventListener("DOMContentLoaded", () => {
  const form = document.querySelector("form.scoreboard-filter");
  const tables = [...document.querySelectorAll(".scoreboard table")];
  if (!form || !tables.length) return;

  const heads = [...tables[0].tHead.rows[0].cells].map((cell) => cell.textContent.trim());
  const filters = ["paper", "kind", "sort", "verdict"];
  const rows = tables.flatMap((table) => [...table.tBodies[0].rows]);
  const text = (row, name) => row.cells[heads.indexOf(name)].textContent.trim();
  rows.forEach((row, n) => { row.place = n; });

  // What there is to choose: papers in their order, other values with the most frequent first; what sorts.
  const rank = {};
  for (const name of filters) {
    const counts = {};
    for (const row of rows) counts[text(row, name)] = (counts[text(row, name)] ?? 0) + 1;
    rank[name] = Object.keys(counts);
    if (name !== "paper") rank[name].sort((a, b) => counts[b] - counts[a]);
    const options = rank[name].map((value) => new Option(`${value} (${counts[value]})`, value));
    form.elements[name].append(new Option("all", ""), ...options);
  }
  form.elements.order.append(...filters.map((name) => new Option(`by ${name}`, name)));

  // What a row is sorted by: the order of the list it is chosen from, else its text.
  function key(row, name) {
    if (!name) return row.place;
    if (rank[name]) return rank[name].indexOf(text(row, name));
    return text(row, name);
  }

  let descending = false;

  function sort() {
    const name = form.elements.order.value;
    for (const table of tables) {
      const sorted = [...table.tBodies[0].rows].sort((a, b) => {
        const [x, y] = [key(a, name), key(b, name)];
        const order = x < y ? -1 : x > y ? 1 : 0;
        return (descending ? -order : order) || a.place - b.place;
      });
      table.tBodies[0].append(...sorted);
      [...table.tHead.rows[0].cells].forEach((cell, n) => {
        if (heads[n] === name) cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
        else cell.removeAttribute("aria-sort");
      });
    }
  }

  function filter() {
    const chosen = filters.filter((name) => form.elements[name].value);
    for (const row of rows) row.hidden = chosen.some((name) => text(row, name) !== form.elements[name].value);
    for (const table of tables) {
      const any = [...table.tBodies[0].rows].some((row) => !row.hidden);
      const fold = table.closest("details");
      table.closest(".scoreboard").hidden = !any;
      if (fold) fold.open = any && chosen.length > 0;
      if (fold) fold.hidden = !any;
    }
    form.querySelector("output").textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} items`;
  }

  // A heading sorts by its column, once more in the other direction.
  const sortable = [...form.elements.order.options].map((option) => option.value).filter(Boolean);
  for (const table of tables) {
    [...table.tHead.rows[0].cells].forEach((cell, n) => {
      if (!sortable.includes(heads[n])) return;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = heads[n];
      button.addEventListener("click", () => {
        descending = form.elements.order.value === heads[n] && !descending;
        form.elements.order.value = heads[n];
        sort();
      });
      cell.replaceChildren(button);
    });
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", () => { descending = false; sort(); filter(); });
  form.addEventListener("reset", () => setTimeout(() => { descending = false; sort(); filter(); }));
  // Another page may ask for a choice: reproduction.html?verdict=undecided
  for (const [name, value] of new URLSearchParams(location.search)) {
    if (filters.includes(name) && rank[name].includes(value)) form.elements[name].value = value;
  }
  filter();
  form.hidden = false;
});
