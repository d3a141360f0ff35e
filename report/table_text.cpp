#include <algorithm>

#include "base/format.h"
#include "report/table.h"

namespace attn {
namespace {

// Width in characters, to align columns in the Markdown source.
size_t width_of(const std::string& text) {
  size_t width = 0;
  for (const char c : text) width += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return width;
}

std::string markdown_cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

void append_padded(std::string& out, const std::string& text, size_t width, bool left) {
  const size_t own = width_of(text);
  const std::string blanks(width > own ? width - own : 0, ' ');
  out += left ? text + blanks : blanks + text;
}

// The columns of a table that are shown: all but those for the other kind of output.
Table without(const Table& table, Table::Shown other) {
  Table out;
  out.rows.resize(table.rows.size());
  out.meanings = table.meanings;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].shown == other) continue;
    out.columns.push_back(table.columns[i]);
    for (size_t k = 0; k < table.rows.size(); ++k) out.rows[k].push_back(table.rows[k][i]);
  }
  return out;
}

// Whether a column is the first of its group of columns, or the first after one.
bool begins_group(const Table& table, size_t column) {
  return column > 0 && table.columns[column].group != table.columns[column - 1].group;
}

std::string cell_class(const Table& table, size_t column) {
  std::string names = table.columns[column].text ? "text" : "";
  if (begins_group(table, column)) names += names.empty() ? "first" : " first";
  return names.empty() ? "" : format(" class=\"%s\"", names.c_str());
}

// A row's name, in HTML, that may break after "=", "/" and "." but not within a number.
std::string breakable(const std::string& name) {
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    out += html_escaped(name.substr(i, 1));
    if (i + 1 == name.size()) break;
    const bool in_number = name[i + 1] >= '0' && name[i + 1] <= '9';
    if (name[i] == '=' || name[i] == '/' || (name[i] == '.' && !in_number)) out += "<wbr>";
  }
  return out;
}

// The row of headings over several columns; "" if there are none.
std::string html_groups(const Table& table) {
  std::string out;
  bool any = false;
  for (size_t i = 0; i < table.columns.size();) {
    size_t end = i + 1;
    const std::string& group = table.columns[i].group;
    while (!group.empty() && end < table.columns.size() && table.columns[end].group == group) ++end;
    if (group.empty()) {
      out.append("<th").append(cell_class(table, i)).append("></th>");
    } else {
      any = true;
      out += format("<th colspan=\"%zu\" class=\"group%s\">", end - i,
                    begins_group(table, i) ? " first" : "");
      out.append(html_escaped(group)).append("</th>");
    }
    i = end;
  }
  return any ? format("<tr>%s</tr>\n", out.c_str()) : "";
}

}  // namespace

std::string to_markdown(const Table& all) {
  const Table table = without(all, Table::Shown::csv);
  std::vector<size_t> widths;
  std::vector<std::string> titles;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const Table::Column& column = table.columns[i];
    // Markdown has no headings over several columns.
    const bool repeats = !column.group.empty() && !column.group.starts_with(column.title);
    const std::string prefix = column.group.substr(0, column.group.find(' '));
    titles.push_back(markdown_cell(repeats ? prefix + " " + column.title : column.title));
    size_t width = std::max<size_t>(width_of(titles.back()), 3);
    for (const auto& row : table.rows) width = std::max(width, width_of(markdown_cell(row[i])));
    widths.push_back(width);
  }
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (size_t i = 0; i < cells.size(); ++i) {
      out += i == 0 ? "| " : " | ";
      append_padded(out, markdown_cell(cells[i]), widths[i], table.columns[i].text);
    }
    out += " |\n";
  };
  line(titles);
  for (size_t i = 0; i < widths.size(); ++i) {
    out += i == 0 ? "| " : " | ";
    out += std::string(widths[i] - 1, '-') + (table.columns[i].text ? "-" : ":");
  }
  out += " |\n";
  for (const auto& row : table.rows) line(row);
  return out;
}

std::string to_csv(const Table& all) {
  const Table table = without(all, Table::Shown::pages);
  std::string out;
  const auto line = [&](const auto& cells, const auto& text) {
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) out += ",";
      out += csv_cell(text(cells[i]));
    }
    out += "\n";
  };
  line(table.columns, [](const Table::Column& column) { return column.key; });
  for (const auto& row : table.rows) line(row, [](const std::string& cell) { return cell; });
  return out;
}

std::string html_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string to_html(const Table& all) {
  const Table table = without(all, Table::Shown::csv);
  std::string out = "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead>\n" + html_groups(table);
  out += "<tr>";
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const Table::Column& column = table.columns[i];
    out.append("<th").append(cell_class(table, i));
    if (!column.meaning.empty()) {
      out.append(" title=\"").append(html_escaped(column.meaning)).append("\"");
    }
    out.append(">").append(html_escaped(column.title)).append("</th>");
  }
  out += "</tr>\n</thead>\n<tbody>\n";
  for (size_t k = 0; k < table.rows.size(); ++k) {
    const std::vector<std::string>& row = table.rows[k];
    const std::string meaning = k < table.meanings.size() ? table.meanings[k] : "";
    out += "<tr";
    if (!meaning.empty()) out.append(" title=\"").append(html_escaped(meaning)).append("\"");
    out += ">";
    for (size_t i = 0; i < row.size(); ++i) {
      out.append(i == 0 ? "<th" : "<td").append(cell_class(table, i)).append(">");
      if (i == 0) {  // the element that narrow pages limit to a width
        out.append("<span>").append(breakable(row[i])).append("</span></th>");
      } else {
        out.append(html_escaped(row[i])).append("</td>");
      }
    }
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table></div>\n";
}

}  // namespace attn
