// SPDX-License-Identifier: BSD-3-Clause
#include "grid/scenario.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace laple::grid {
namespace {

constexpr std::string_view kFormat = "laple-grid-1";
constexpr int kMaxSites = 64;  // addresses are 10.<site>.0.<host>
constexpr int kMaxHostsPerSite = 250;
constexpr int kMaxHosts = 512;  // one machine has to carry them
constexpr std::size_t kMaxName = 24;
constexpr double kMinRate = 64e3;
constexpr double kMaxRate = 100e9;
constexpr Nanoseconds kMaxDelay = std::chrono::seconds(10);
constexpr double kMaxLoss = 0.5;
constexpr Bytes kMinQueue = Bytes{128} << 10;  // two of the largest segments that TCP hands down
constexpr Bytes kMaxQueue = Bytes{1} << 30;
constexpr Bytes kDefaultQueue = Bytes{1} << 20;
constexpr Bytes kMinBurst = Bytes{10} << 10;
constexpr Bytes kMaxBurst = Bytes{16} << 20;
constexpr Bytes kDefaultBurst = Bytes{128} << 10;

/// One JSON object of the file: hands out its members with their checks.
class Section {
  public:
    Section(const JsonDocument& document, std::string pointer, const Json& object,
            std::vector<std::string_view> keys)
        : document_(document), pointer_(std::move(pointer)), object_(object) {
        if (!object.is_object()) throw error("", fmt::format("{} is not an object", what()), "write { ... }");
        for (const auto& member : object.items()) {
            if (std::find(keys.begin(), keys.end(), member.key()) == keys.end()) {
                throw unknown_key(member.key(), keys);
            }
        }
    }

    bool has(const std::string& key) const { return object_.contains(key); }

    const Json& at(const std::string& key) const {
        if (!has(key)) {
            throw error("", fmt::format("{} has no \"{}\"", what(), key), fmt::format("add \"{}\"", key));
        }
        return object_.at(key);
    }

    std::string text(const std::string& key) const {
        const Json& value = at(key);
        if (!value.is_string()) {
            throw error(key, fmt::format("\"{}\" is not a string", key), "write it in quotes");
        }
        return value.get<std::string>();
    }

    int integer(const std::string& key, int low, int high) const {
        const Json& value = at(key);
        if (!value.is_number_integer() || value < low || value > high) {
            throw error(key, fmt::format("\"{}\" is {}", key, value.dump()),
                        fmt::format("write a whole number from {} to {}", low, high));
        }
        return value.get<int>();
    }

    double rate(const std::string& key) const {
        const double rate = quantity(key, parse_rate_bps);
        if (rate < kMinRate || rate > kMaxRate)
            throw range(key, format_rate(kMinRate), format_rate(kMaxRate));
        return rate;
    }

    Nanoseconds duration(const std::string& key) const {
        const Nanoseconds time = quantity(key, parse_duration);
        if (time > kMaxDelay) throw range(key, "0ms", format_duration(kMaxDelay));
        return time;
    }

    double percentage(const std::string& key) const {
        const double share = quantity(key, parse_percentage);
        if (share > kMaxLoss) throw range(key, "0%", fmt::format("{:g}%", kMaxLoss * 100));
        return share;
    }

    Bytes bytes(const std::string& key, Bytes low, Bytes high) const {
        const Bytes size = quantity(key, parse_bytes);
        if (size < low || size > high) throw range(key, format_bytes(low), format_bytes(high));
        return size;
    }

    /// A name that can be part of the name of a namespace.
    std::string name(const std::string& key) const {
        std::string name = text(key);
        const bool plain =
            name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
        if (name.empty() || name.size() > kMaxName || name.front() == '-' || !plain) {
            throw error(
                key, fmt::format("\"{}\" is not a name", name),
                fmt::format("write 1 to {} small letters, digits or dashes, no dash first", kMaxName));
        }
        return name;
    }

    std::string child(const std::string& key) const { return pointer_ + "/" + key; }

    Error error(const std::string& key, const std::string& problem, const std::string& advice) const {
        return document_.error(key.empty() ? pointer_ : child(key), problem, advice);
    }

  private:
    std::string what() const {
        return pointer_.empty() ? "the scenario" : fmt::format("\"{}\"", pointer_.substr(1));
    }

    template <typename T>
    T quantity(const std::string& key, T (*parse)(std::string_view)) const {
        const std::string value = text(key);
        try {
            return parse(value);
        } catch (const Error& e) {
            const std::string message = e.what();
            const auto split = message.find("; ");
            throw error(key, fmt::format("\"{}\": {}", key, message.substr(0, split)),
                        message.substr(split + 2));
        }
    }

    Error range(const std::string& key, const std::string& low, const std::string& high) const {
        return error(key, fmt::format("\"{}\" is {}", key, object_.at(key).dump()),
                     fmt::format("write a value from {} to {}", low, high));
    }

    Error unknown_key(const std::string& key, const std::vector<std::string_view>& keys) const {
        const std::string near = nearest_name(key, keys);
        const std::string advice = near.empty() ? fmt::format("the keys here are: {}", fmt::join(keys, ", "))
                                                : fmt::format("did you mean \"{}\"? The keys here are: {}",
                                                              near, fmt::join(keys, ", "));
        return error(key, fmt::format("{} has an unknown key \"{}\"", what(), key), advice);
    }

    const JsonDocument& document_;
    std::string pointer_;
    const Json& object_;
};

/// What a link section says; what it leaves out stays empty, for the default link to fill.
struct LinkText {
    std::optional<Nanoseconds> delay;
    std::optional<Nanoseconds> jitter;
    std::optional<double> loss;
    std::optional<double> rate_bps;
    std::optional<Bytes> queue_bytes;
};

LinkText read_link(const Section& section) {
    LinkText link;
    if (section.has("delay")) link.delay = section.duration("delay");
    if (section.has("jitter")) link.jitter = section.duration("jitter");
    if (section.has("loss")) link.loss = section.percentage("loss");
    if (section.has("rate")) link.rate_bps = section.rate("rate");
    if (section.has("queue")) link.queue_bytes = section.bytes("queue", kMinQueue, kMaxQueue);
    return link;
}

/// What TCP keeps in flight over a link at `rate_bps`, at least a sensible minimum.
Bytes bandwidth_delay_bytes(double rate_bps, Nanoseconds round_trip) {
    const double bytes = rate_bps / 8 * std::chrono::duration<double>(round_trip).count();
    return std::clamp(static_cast<Bytes>(std::ceil(bytes)), kDefaultQueue, kMaxQueue);
}

/// Reads sites and links of one document in the order in which they depend on each other.
class Reader {
  public:
    explicit Reader(const JsonDocument& document)
        : document_(document),
          top_(document, "", document.root(),
               {"format", "name", "description", "mtu", "nic", "nic_burst", "uplink", "uplink_queue", "sites",
                "link", "links"}) {}

    Scenario read() {
        if (top_.text("format") != kFormat) {
            throw top_.error("format", fmt::format("the format is \"{}\"", top_.text("format")),
                             fmt::format("this laple-grid reads \"{}\"", kFormat));
        }
        scenario_.name = top_.name("name");
        scenario_.description = top_.text("description");
        if (top_.has("mtu")) scenario_.mtu = top_.integer("mtu", 1280, 9216);
        scenario_.nic_burst_bytes =
            top_.has("nic_burst") ? top_.bytes("nic_burst", kMinBurst, kMaxBurst) : kDefaultBurst;
        read_sites();
        read_links();
        fill_uplink_queues();
        return scenario_;
    }

  private:
    void read_sites() {
        const Json& sites = top_.at("sites");
        if (!sites.is_array() || sites.empty() || sites.size() > kMaxSites) {
            throw top_.error("sites", "\"sites\" is not a list of sites",
                             fmt::format("write [ ... ] with 1 to {} sites", kMaxSites));
        }
        for (std::size_t i = 0; i < sites.size(); ++i) read_site(i, sites[i], sites.size() > 1);
        refuse_hosts_named_like_sites();
        if (scenario_.host_count() > kMaxHosts) {
            throw top_.error("sites", fmt::format("{} hosts are too many", scenario_.host_count()),
                             fmt::format("use at most {}", kMaxHosts));
        }
    }

    /// Host 1 of "rack" is rack-1, and both would have network namespaces of that name.
    void refuse_hosts_named_like_sites() const {
        for (const Site& site : scenario_.sites) {
            for (int host = 1; host <= site.hosts; ++host) {
                const std::string name = fmt::format("{}-{}", site.name, host);
                if (!find_site(name)) continue;
                throw top_.error(
                    "sites", fmt::format("site \"{}\" and a host of \"{}\" have one name", name, site.name),
                    "rename one site");
            }
        }
    }

    void read_site(std::size_t index, const Json& object, bool has_wan) {
        const Section section(document_, fmt::format("/sites/{}", index), object,
                              {"name", "hosts", "nic", "uplink", "uplink_queue"});
        Site site;
        site.name = section.name("name");
        if (find_site(site.name)) {
            throw section.error("name", fmt::format("site \"{}\" is there twice", site.name), "rename one");
        }
        site.hosts = section.integer("hosts", 1, kMaxHostsPerSite);
        site.nic_bps = with_default(section, "nic").rate("nic");
        const Section& uplink = with_default(section, "uplink");
        if (has_wan) {
            site.uplink_bps = uplink.rate("uplink");
        } else if (uplink.has("uplink")) {
            throw uplink.error("uplink", "a grid of one site has no uplink", "remove it or add a site");
        }
        const Section& queue = with_default(section, "uplink_queue");
        if (queue.has("uplink_queue")) {
            site.uplink_queue_bytes = queue.bytes("uplink_queue", kMinQueue, kMaxQueue);
        }
        scenario_.sites.push_back(site);
    }

    /// The site's section when it sets `key`, else the scenario's if that does.
    const Section& with_default(const Section& site, const std::string& key) const {
        return !site.has(key) && top_.has(key) ? top_ : site;
    }

    std::optional<std::size_t> find_site(const std::string& name) const {
        for (std::size_t i = 0; i < scenario_.sites.size(); ++i) {
            if (scenario_.sites[i].name == name) return i;
        }
        return std::nullopt;
    }

    void read_links() {
        const std::size_t count = scenario_.sites.size();
        LinkText fallback;
        if (top_.has("link")) {
            fallback = read_link(
                Section(document_, "/link", top_.at("link"), {"delay", "jitter", "loss", "rate", "queue"}));
        }
        std::vector<std::vector<LinkText>> texts(count, std::vector<LinkText>(count));
        if (top_.has("links")) read_link_list(texts);
        scenario_.links.assign(count, std::vector<SiteLink>(count));
        for (std::size_t a = 0; a < count; ++a) {
            for (std::size_t b = a + 1; b < count; ++b) {
                scenario_.links[a][b] = scenario_.links[b][a] = complete(texts[a][b], fallback, a, b);
            }
        }
    }

    void read_link_list(std::vector<std::vector<LinkText>>& texts) {
        const Json& list = top_.at("links");
        if (!list.is_array()) throw top_.error("links", "\"links\" is not a list", "write [ ... ]");
        std::set<std::pair<std::size_t, std::size_t>> seen;
        for (std::size_t i = 0; i < list.size(); ++i) {
            const Section section(document_, fmt::format("/links/{}", i), list[i],
                                  {"between", "delay", "jitter", "loss", "rate", "queue"});
            const auto pair = read_pair(section);
            if (!seen.insert(pair).second) {
                throw section.error("between", "these two sites have two links", "remove one");
            }
            link_places_[pair] = fmt::format("/links/{}", i);
            texts[pair.first][pair.second] = read_link(section);
        }
    }

    std::pair<std::size_t, std::size_t> read_pair(const Section& section) const {
        const Json& between = section.at("between");
        const bool two_names =
            between.is_array() && between.size() == 2 && between[0].is_string() && between[1].is_string();
        if (!two_names) {
            throw section.error("between", "\"between\" is not a pair of sites",
                                "write [\"one\", \"other\"]");
        }
        const std::size_t a = site_index(section, between[0].get<std::string>());
        const std::size_t b = site_index(section, between[1].get<std::string>());
        if (a == b)
            throw section.error("between", "a link joins a site to itself", "name two different sites");
        return std::minmax(a, b);
    }

    std::size_t site_index(const Section& section, const std::string& name) const {
        if (const auto index = find_site(name)) return *index;
        std::vector<std::string> names;
        for (const Site& site : scenario_.sites) names.push_back(site.name);
        const std::string near = nearest_name(name, names);
        throw section.error("between", fmt::format("there is no site \"{}\"", name),
                            near.empty() ? fmt::format("the sites are: {}", fmt::join(names, ", "))
                                         : fmt::format("did you mean \"{}\"?", near));
    }

    SiteLink complete(const LinkText& text, const LinkText& fallback, std::size_t a, std::size_t b) const {
        const auto place = link_places_.find({a, b});
        const std::string pointer = place != link_places_.end() ? place->second : "/link";
        SiteLink link;
        if (!text.delay && !fallback.delay) {
            throw document_.error(
                pointer,
                fmt::format("no delay between {} and {}", scenario_.sites[a].name, scenario_.sites[b].name),
                "give their link a \"delay\", or all links one in \"link\"");
        }
        link.delay = text.delay ? *text.delay : *fallback.delay;
        link.jitter = text.jitter ? *text.jitter : fallback.jitter.value_or(Nanoseconds(0));
        if (link.jitter > link.delay) {
            throw document_.error(pointer, "the jitter is larger than the delay", "make it smaller");
        }
        link.loss = text.loss ? *text.loss : fallback.loss.value_or(0);
        link.rate_bps = text.rate_bps ? *text.rate_bps : fallback.rate_bps.value_or(0);
        const Bytes queue_bytes = bandwidth_delay_bytes(link.rate_bps, 2 * link.delay);
        link.queue_bytes = text.queue_bytes ? *text.queue_bytes : fallback.queue_bytes.value_or(queue_bytes);
        return link;
    }

    void fill_uplink_queues() {
        for (std::size_t a = 0; a < scenario_.sites.size(); ++a) {
            Site& site = scenario_.sites[a];
            if (site.uplink_queue_bytes != 0) continue;
            Nanoseconds longest{};
            for (const SiteLink& link : scenario_.links[a]) longest = std::max(longest, link.delay);
            site.uplink_queue_bytes = bandwidth_delay_bytes(site.uplink_bps, 2 * longest);
        }
    }

    const JsonDocument& document_;
    Section top_;
    Scenario scenario_;
    std::map<std::pair<std::size_t, std::size_t>, std::string> link_places_;
};

}  // namespace

int Scenario::host_count() const {
    int count = 0;
    for (const Site& site : sites) count += site.hosts;
    return count;
}

Scenario parse_scenario(const JsonDocument& document) {
    return Reader(document).read();
}

Scenario load_scenario(const std::string& file) {
    return parse_scenario(JsonDocument::load(file));
}

}  // namespace laple::grid
